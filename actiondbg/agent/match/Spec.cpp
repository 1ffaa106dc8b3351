#include "match/Spec.h"
#include "engine/Frame.h"
#include "observe/PatternNames.h"
#include "support/Locations.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// Globs
//===----------------------------------------------------------------------===//

std::optional<Glob> Glob::create(StringRef text, std::string &error) {
  Glob glob;
  glob.text = text.str();
  if (!glob.pattern.parse(text, error)) {
    error = "the glob '" + glob.text + "' is malformed: " + error;
    return std::nullopt;
  }
  return glob;
}

std::optional<Glob> Glob::create(StringRef text, Fields &fields) {
  std::string error;
  std::optional<Glob> glob = create(text, error);
  if (!glob)
    fields.fail(error);
  return glob;
}

std::optional<Glob> Glob::parse(Fields &fields, StringRef key) {
  std::string text = fields.textOr(key, "");
  return text.empty() ? std::nullopt : create(text, fields);
}

bool Glob::matchesNow(StringRef candidate) const {
  return candidate == text || pattern.match(candidate);
}

bool Glob::matches(StringRef candidate) {
  return known.get(candidate, [&] { return matchesNow(candidate); });
}

bool Glob::matchesName(StringRef name) {
  return knownNames.get(name, [&] {
    std::string plain = withoutAnonymous(name);
    return matchesNow(name) || matchesNow(plain) ||
           matchesNow(lastComponent(plain));
  });
}

//===----------------------------------------------------------------------===//
// Conditions over the fields of an action
//===----------------------------------------------------------------------===//

static std::optional<FilePlace> placeOf(const Frame &frame) {
  Operation *op = frame.op();
  return op ? firstPlace(op->getLoc()) : std::nullopt;
}

const Condition::Field *Condition::fieldNamed(StringRef name) {
  // As FIELDS of breakpoints/condition.py.
  using F = const Frame &;
  using M = const Moment &;
  static const Field fields[] = {
      {"ordinal", [](F frame, M) { return numberOf(frame.ordinal); }},
      {"depth", [](F frame, M) { return numberOf(frame.depth); }},
      {"iteration", [](F frame, M) { return numberOf(frame.iteration()); }},
      {"line",
       [](F frame, M) {
         std::optional<FilePlace> place = placeOf(frame);
         return numberOf(place ? place->line : 0);
       }},
      {"id",
       [](F frame, M) {
         Operation *op = frame.op();
         return numberOf(op ? ids.of(op) : 0);
       }},
      {"regions",
       [](F frame, M) {
         Operation *op = frame.op();
         bool isKnown = op && Layout::offsets.hasRegions;
         return numberOf(isKnown ? int64_t(op->getNumRegions()) : -1);
       }},
      {"hits", [](F, M moment) { return numberOf(moment.hits); }},
      {"tag", [](F frame, M) { return textOf(frame.tag()); }},
      {"name", [](F frame, M) { return textOf(frame.shortName()); }},
      {"op",
       [](F frame, M) {
         Operation *op = frame.op();
         return textOf(op ? op->getName().getStringRef() : "");
       },
       true},
      {"file",
       [](F frame, M) {
         std::optional<FilePlace> place = placeOf(frame);
         return textOf(place ? place->file.getValue() : "");
       },
       true},
      {"func", [](F frame, M) { return textOf(frame.function()); }, true},
      {"pass",
       [](F frame, M) {
         const Frame *pass = frame.passAround();
         return textOf(pass ? pass->shortName() : "");
       }},
      {"context",
       [](F frame, M) {
         return textOf(Contexts::all().nameOf(frame.context()));
       }},
      {"mlir",
       [](F frame, M) {
         return textOf(Contexts::all().mlirOf(frame.context()));
       }},
      {"outcome",
       [](F, M moment) { return textOf(adbg::textOf(moment.result)); }},
  };
  auto *found = std::ranges::find(fields, name, &Field::name);
  return found == std::end(fields) ? nullptr : found;
}

const Condition::Field Condition::unnamed = {
    "",
    [](const Frame &frame, const Moment &) { return textOf(frame.unnamed()); }};

const Condition::Operator *Condition::operatorNamed(StringRef name) {
  static const Operator operators[] = {{"and", Node::And},
                                       {"or", Node::Or},
                                       {"not", Node::Not},
                                       {"==", Node::Compare, Equal},
                                       {"!=", Node::Compare, Less | Greater},
                                       {"<", Node::Compare, Less},
                                       {"<=", Node::Compare, Less | Equal},
                                       {">", Node::Compare, Greater},
                                       {">=", Node::Compare, Greater | Equal},
                                       {"~", Node::Matches},
                                       {"!~", Node::MatchesNot}};
  auto *found = std::ranges::find(operators, name, &Operator::name);
  return found == std::end(operators) ? nullptr : found;
}

std::optional<Condition> Condition::parse(const Json &value,
                                          std::string &error) {
  Condition result;
  error = "each part of a condition must be a field, a value or a call";
  const Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  if (auto number = object->getInteger("value")) {
    result.number = *number;
    return result;
  }
  if (auto text = object->getString("value")) {
    result.node = Node::Text;
    result.text = text->str();
    return result;
  }
  if (auto name = object->getString("field")) {
    result.node = Node::Field;
    result.field = fieldNamed(*name);
    result.needsOutcome = *name == "outcome";
    if (!result.field)
      return std::nullopt;
    return result;
  }
  auto call = object->getString("call");
  const Operator *known = call ? operatorNamed(*call) : nullptr;
  if (!known)
    return std::nullopt;
  Node node = result.node = known->node;
  result.orders = known->orders;
  const Array *args = object->getArray("args");
  if (!args || args->size() != (node == Node::Not ? 1 : 2))
    return std::nullopt;
  for (const Json &arg : *args) {
    std::optional<Condition> parsed = parse(arg, error);
    if (!parsed)
      return std::nullopt;
    result.needsOutcome |= parsed->needsOutcome;
    result.args.push_back(std::move(*parsed));
  }
  // The other name of a pattern without a debug name.
  Condition &left = result.args[0];
  if (node != Node::Not && left.field && left.field->name == "name" &&
      result.args[1].node == Node::Text &&
      StringRef(result.args[1].text).starts_with("<unnamed"))
    left.field = &unnamed;
  if (node >= Node::Matches && result.args[1].node == Node::Text) {
    result.glob = Glob::create(result.args[1].text, error);
    if (!result.glob)
      return std::nullopt;
  }
  return result;
}

Condition::Operand Condition::value(const Frame &frame,
                                    const Moment &moment) const {
  if (field)
    return field->value(frame, moment);
  return node == Node::Text ? textOf(text) : numberOf(number);
}

bool Condition::matchesGlob(const Operand &left, const Operand &right) const {
  // The match of a text that MLIR owns is cached.
  if (glob)
    return args[0].field && args[0].field->isOwnedByMlir
               ? glob->matches(left.text)
               : glob->matchesNow(left.text);
  std::string error;
  std::optional<Glob> made = Glob::create(right.text, error);
  return made && made->matchesNow(left.text);
}

bool Condition::compare(const Frame &frame, const Moment &moment) const {
  Operand left = args[0].value(frame, moment);
  Operand right = args[1].value(frame, moment);
  if (node >= Node::Matches)
    return matchesGlob(left, right) == (node == Node::Matches);
  int order = left.isText
                  ? left.text.compare(right.text)
                  : (left.number > right.number) - (left.number < right.number);
  return orders & (order < 0 ? Less : order > 0 ? Greater : Equal);
}

bool Condition::holdsAt(const Frame &frame, const Moment &moment) const {
  switch (node) {
  case Node::And:
    return args[0].holdsAt(frame, moment) && args[1].holdsAt(frame, moment);
  case Node::Or:
    return args[0].holdsAt(frame, moment) || args[1].holdsAt(frame, moment);
  case Node::Not:
    return !args[0].holdsAt(frame, moment);
  default:
    // The front end refuses a lone field or value.
    return node >= Node::And && compare(frame, moment);
  }
}

Results Condition::resultsFor(const Frame &frame, uint64_t hits) const {
  if (!needsOutcome)
    return holdsAt(frame, {hits, Result::Succeeded}) ? anyResult : noResult;
  Results results = noResult;
  for (Result one :
       {Result::Succeeded, Result::Unchanged, Result::Failed, Result::Skipped})
    if (holdsAt(frame, {hits, one}))
      results |= asSet(one);
  return results;
}

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
    term.glob = Glob::create(glob, fields);
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
  uint64_t count = countOf(frame);
  return condition ? condition->resultsFor(frame, count) : anyResult;
}

uint64_t Spec::countOf(const Frame &frame) {
  if (!frame.ordinal) // a rule that skips an action before it is counted
    return ++matched;
  for (const Counted &one : running)
    if (one.ordinal == frame.ordinal)
      return one.number;
  // As deep as it, and earlier: over.
  while (!running.empty() && running.back().depth >= frame.depth &&
         running.back().ordinal < frame.ordinal)
    running.pop_back();
  running.push_back({frame.ordinal, frame.depth, ++matched});
  return matched;
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
