#include "match/Spec.h"
#include "observe/PatternNames.h"
#include "support/Locations.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

bool Term::matchesFile(StringAttr file) {
  return knownFiles.get(file.getValue(), [&] {
    // By suffix of path components: b.mlir is a/b.mlir, but not ab.mlir.
    StringRef name = file.getValue();
    return name == path ||
           (name.ends_with(path) && name.drop_back(path.size()).ends_with("/"));
  });
}

bool Term::matchesPlace(Location loc) {
  std::optional<FilePlace> place = asFilePlace(loc);
  if (!place || (line && (place->lastLine < line || place->line > lastLine)))
    return false;
  return (!column || place->column == column) && matchesFile(place->file);
}

bool Term::matchesLocation(Location loc) {
  return last.get(loc.getAsOpaquePointer(), [&] {
    return visitLocations(
        loc, [this](Location inner) { return matchesPlace(inner); });
  });
}

bool Term::matchesNames(Location loc) {
  return last.get(loc.getAsOpaquePointer(), [&] {
    return visitLocations(loc, [this](Location inner) {
      auto named = dyn_cast<NameLoc>(inner);
      return named && glob->matchesNow(named.getName().getValue());
    });
  });
}

bool Term::matchesFunction(const Frame &frame) {
  StringRef function = frame.function();
  return !function.empty() &&
         last.get(function.data(), [&] { return glob->matches(function); });
}

bool matchesPass(Glob &glob, const Pass *pass) {
  return pass && (glob.matchesName(pass->getArgument()) ||
                  glob.matchesName(pass->getName()));
}

static bool matchesPattern(Glob &glob, const Frame &frame) {
  const Pattern *pattern = frame.pattern();
  if (!pattern)
    return false;
  StringRef unnamed = frame.unnamed();
  return glob.matchesName(nameOf(*pattern)) ||
         (!unnamed.empty() && glob.matches(unnamed));
}

/// Whether the action is inside a run of the pass, at any depth.
bool Term::matchesAround(const Frame &frame) {
  for (const Frame *around = frame.parent; around; around = around->parent)
    if ((!nth || around->rare().run == nth) &&
        matchesPass(*glob, around->pass()))
      return true;
  return false;
}

Term::NameMatch Term::matchNames(const Frame &frame) {
  auto matchesOp = [&] {
    Operation *op = frame.op();
    return op && glob->matches(op->getName().getStringRef());
  };
  auto decided = [](bool isMatch) {
    return isMatch ? NameMatch::Yes : NameMatch::No;
  };
  switch (about) {
  case About::Tag:
    return decided(glob->matches(frame.tag()));
  case About::Pattern:
    return decided(matchesPattern(*glob, frame));
  case About::Pass:
    return decided(matchesPass(*glob, frame.pass()));
  case About::Fold:
    return decided(frame.kind == Kind::Fold && matchesOp());
  case About::Op:
    return decided(matchesOp());
  case About::Name:
    // It may still be the name of the function.
    return glob->matches(frame.tag()) || matchesPass(*glob, frame.pass()) ||
                   matchesPattern(*glob, frame) || matchesOp()
               ? NameMatch::Yes
               : NameMatch::Open;
  default:
    return NameMatch::Open;
  }
}

bool Term::matchesOpen(const Frame &frame) {
  if (about == About::Ordinal)
    return frame.ordinal == static_cast<uint64_t>(ordinal);
  if (about == About::Context)
    return glob->matchesNow(Contexts::all().nameOf(frame.context()));
  if (about == About::Mlir)
    return glob->matchesNow(Contexts::all().mlirOf(frame.context()));
  if (about == About::In)
    return matchesAround(frame);
  if (about == About::Func || about == About::Name)
    return matchesFunction(frame);
  Operation *op = frame.op();
  return op && (about == About::Loc ? matchesNames(op->getLoc())
                                    : matchesLocation(op->getLoc()));
}

Term Term::parse(Fields &fields) {
  Term term;
  term.about = fields.choice<About>("kind", "kind of term",
                                    {{"context", About::Context},
                                     {"mlir", About::Mlir},
                                     {"tag", About::Tag},
                                     {"pattern", About::Pattern},
                                     {"pass", About::Pass},
                                     {"fold", About::Fold},
                                     {"name", About::Name},
                                     {"op", About::Op},
                                     {"in", About::In},
                                     {"func", About::Func},
                                     {"location", About::Location},
                                     {"loc", About::Loc},
                                     {"ordinal", About::Ordinal}});
  if (term.about == About::Ordinal) {
    term.ordinal = fields.integer("ordinal", 1);
  } else if (term.about == About::Location) {
    term.path = fields.text("path");
    term.line = fields.integerOr("line", 1, 0);
    term.lastLine = fields.integerOr("lastLine", 1, term.line);
    term.column = fields.integerOr("column", 1, 0);
  } else if (std::string glob = fields.text("glob"); fields.error.empty()) {
    std::string error;
    term.glob = Glob::create(glob, error);
    if (!term.glob)
      fields.fail(error);
  }
  if (term.about == About::In)
    term.nth = fields.integerOr("nth", 1, 0);
  return term;
}

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

std::optional<Spec::Terms> Spec::openTerms(const Frame &frame) {
  Terms open;
  for (Term &term : terms) {
    Term::NameMatch match = term.matchNames(frame);
    if (match == Term::NameMatch::No)
      return std::nullopt;
    if (match == Term::NameMatch::Open)
      open.push_back(&term);
  }
  return open;
}

Results Spec::resultsFor(const Frame &frame, ArrayRef<Term *> open) {
  for (Term *term : open)
    if (!term->matchesOpen(frame))
      return noResult;
  ++matched;
  return condition ? condition->resultsFor(frame, matched) : anyResult;
}

Spec Spec::parse(Fields &fields) {
  Spec spec;
  spec.terms = fields.objects<Term>("terms");
  std::ranges::stable_sort(spec.terms, [](const Term &left, const Term &right) {
    return left.isFasterThan(right);
  });
  if (const Json *condition = fields.optional("condition")) {
    std::string error;
    spec.condition = Condition::parse(*condition, error);
    if (!spec.condition)
      fields.fail(error);
  }
  return spec;
}

} // namespace adbg
