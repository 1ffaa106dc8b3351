//===- Breakpoint.cpp - Breakpoints, watches and catches ------------------===//

#include "match/Breakpoint.h"

namespace adbg {

Catch Catch::parse(Fields &fields) {
  Catch result;
  result.kind =
      fields.choice<CatchKind>("kind", "kind of catch",
                               {{"failure", CatchKind::Failure},
                                {"crash", CatchKind::Crash},
                                {"verify", CatchKind::Verify},
                                {"diagnostic", CatchKind::Diagnostic},
                                {"nonconvergence", CatchKind::Nonconvergence}});
  result.glob = Glob::parse(fields, "glob");
  return result;
}

Breakpoint Breakpoint::parse(Fields &fields) {
  Breakpoint result;
  result.id = fields.integer("id", 1);
  result.enabled = fields.boolean("enabled", true);
  result.temporary = fields.boolean("temporary", false);
  result.after = fields.boolean("after", false);
  result.log = fields.boolean("log", false);
  result.ignore = fields.integerOr("ignore", 0, 0);
  result.outcome = fields.inner<OutcomeFilter>("outcome");
  result.watch = fields.inner<Watch>("watch");
  result.catches = fields.inner<Catch>("catch");
  result.spec = Spec::parse(fields);
  return result;
}

bool Breakpoint::hit() {
  ++hits;
  if (ignore > 0) {
    --ignore;
    return false;
  }
  if (temporary)
    enabled = false;
  return true;
}

void Breakpoint::inherit(Breakpoint &old) {
  hits = old.hits;
  spec.matched = old.spec.matched;
  if (watch && old.watch && watch->isSameAs(*old.watch))
    watch = std::move(old.watch);
}

} // namespace adbg
