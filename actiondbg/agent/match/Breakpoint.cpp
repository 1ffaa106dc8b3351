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

//===----------------------------------------------------------------------===//
// Outcomes that a breakpoint stops at
//===----------------------------------------------------------------------===//

OutcomeFilter OutcomeFilter::parse(Fields &fields) {
  OutcomeFilter filter;
  const Array *results = fields.array("results");
  for (size_t i = 0; results && i < results->size(); ++i) {
    StringRef name = (*results)[i].getAsString().value_or("");
    bool *asked = name == "succeeded"   ? &filter.succeeded
                  : name == "failed"    ? &filter.failed
                  : name == "changed"   ? &filter.changed
                  : name == "unchanged" ? &filter.unchanged
                  : name == "skipped"   ? &filter.skipped
                                        : nullptr;
    if (!asked)
      fields.fail("there is no outcome '" + name + "'");
    else
      *asked = true;
  }
  filter.reason = Glob::parse(fields, "reason");
  return filter;
}

bool OutcomeFilter::asksForAll() const {
  return !(succeeded || failed || changed || unchanged || skipped || reason);
}

bool OutcomeFilter::matches(const Frame &frame, bool own) const {
  Result result = frame.result();
  if (asksForAll())
    return true;
  if (reason &&
      std::ranges::any_of(frame.rare().reasons, [&](const std::string &text) {
        return reason->matchesNow(text);
      }))
    return true;
  if (changed && (own ? frame.changedItself() : frame.changed()))
    return true;
  switch (result) {
  case Result::Succeeded:
    return succeeded;
  case Result::Unchanged:
    return succeeded || unchanged;
  case Result::Failed:
    return failed;
  case Result::Skipped:
    return skipped;
  }
  return false;
}

} // namespace adbg
