//===- Condition.cpp - Conditions over the fields of an action ------------===//

#include "match/Condition.h"
#include "support/Locations.h"

namespace adbg {

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
  for (const Field &field : fields)
    if (field.name == name)
      return &field;
  return nullptr;
}

const Condition::Field Condition::unnamed = {
    "",
    [](const Frame &frame, const Moment &) { return textOf(frame.unnamed()); }};

std::optional<Condition::Node> Condition::operatorNamed(StringRef name) {
  static const TextMap<Node> nodes = {
      {"and", Node::And},           {"or", Node::Or},
      {"not", Node::Not},           {"==", Node::Equal},
      {"!=", Node::Unequal},        {"<", Node::Less},
      {"<=", Node::LessOrEqual},    {">", Node::Greater},
      {">=", Node::GreaterOrEqual}, {"~", Node::Matches},
      {"!~", Node::MatchesNot}};
  auto found = nodes.find(name);
  return found == nodes.end() ? std::nullopt : std::optional(found->second);
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
  std::optional<Node> node = call ? operatorNamed(*call) : std::nullopt;
  if (!node)
    return std::nullopt;
  result.node = *node;
  const Array *args = object->getArray("args");
  if (!args || args->size() != (*node == Node::Not ? 1 : 2))
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
  if (*node != Node::Not && left.field && left.field->name == "name" &&
      result.args[1].node == Node::Text &&
      StringRef(result.args[1].text).starts_with("<unnamed"))
    left.field = &unnamed;
  if (*node >= Node::Matches && result.args[1].node == Node::Text) {
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
  if (left.isText && (node == Node::Equal || node == Node::Unequal))
    return (left.text == right.text) == (node == Node::Equal);
  int order = left.isText
                  ? left.text.compare(right.text)
                  : (left.number > right.number) - (left.number < right.number);
  switch (node) {
  case Node::Equal:
    return order == 0;
  case Node::Unequal:
    return order != 0;
  case Node::Less:
    return order < 0;
  case Node::LessOrEqual:
    return order <= 0;
  case Node::Greater:
    return order > 0;
  default:
    return order >= 0;
  }
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

} // namespace adbg
