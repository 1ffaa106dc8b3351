//===- Condition.cpp - Conditions over the fields of an action ------------===//

#include "match/Condition.h"
#include "interpose/Versions.h"
#include "support/Locations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

std::optional<Condition::Node> Condition::nodeOf(StringRef name) {
  static const llvm::StringMap<Node> nodes = {{"ordinal", Node::Ordinal},
                                              {"depth", Node::Depth},
                                              {"iteration", Node::Iteration},
                                              {"line", Node::Line},
                                              {"hits", Node::Hits},
                                              {"tag", Node::Tag},
                                              {"name", Node::Name},
                                              {"pass", Node::Pass},
                                              {"context", Node::Context},
                                              {"mlir", Node::Mlir},
                                              {"outcome", Node::Outcome},
                                              {"op", Node::Op},
                                              {"file", Node::File},
                                              {"func", Node::Func},
                                              {"and", Node::And},
                                              {"or", Node::Or},
                                              {"not", Node::Not},
                                              {"==", Node::Equal},
                                              {"!=", Node::Unequal},
                                              {"<", Node::Less},
                                              {"<=", Node::LessOrEqual},
                                              {">", Node::Greater},
                                              {">=", Node::GreaterOrEqual},
                                              {"~", Node::Matches},
                                              {"!~", Node::MatchesNot}};
  auto found = nodes.find(name);
  return found == nodes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Condition> Condition::parse(const llvm::json::Value &value,
                                          std::string &error) {
  Condition result;
  error = "each part of a condition must be a field, a value or a call";
  const llvm::json::Object *object = value.getAsObject();
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
  auto field = object->getString("field");
  auto call = object->getString("call");
  if (!field && !call)
    return std::nullopt;
  std::optional<Node> node = nodeOf(field ? *field : *call);
  if (!node || (*node >= Node::And) == field.has_value())
    return std::nullopt;
  result.node = *node;
  result.needsOutcome = *node == Node::Outcome;
  if (field)
    return result;
  const llvm::json::Array *args = object->getArray("args");
  if (!args || args->size() != (*node == Node::Not ? 1 : 2))
    return std::nullopt;
  for (const llvm::json::Value &arg : *args) {
    std::optional<Condition> parsed = parse(arg, error);
    if (!parsed)
      return std::nullopt;
    result.needsOutcome |= parsed->needsOutcome;
    result.args.push_back(std::move(*parsed));
  }
  // The other name of a pattern without a debug name.
  if (*node != Node::Not && result.args[0].node == Node::Name &&
      result.args[1].node == Node::Text &&
      StringRef(result.args[1].text).starts_with("<unnamed"))
    result.args[0].node = Node::Unnamed;
  if (*node >= Node::Matches && result.args[1].node == Node::Text) {
    result.glob = Glob::create(result.args[1].text, error);
    if (!result.glob)
      return std::nullopt;
  }
  return result;
}

Condition::Operand Condition::value(const Frame &frame,
                                    const Moment &moment) const {
  auto number = [](int64_t value) { return Operand{false, value, {}}; };
  auto text = [](StringRef value) { return Operand{true, 0, value}; };
  switch (node) {
  case Node::Text:
    return text(this->text);
  case Node::Ordinal:
    return number(frame.ordinal);
  case Node::Depth:
    return number(frame.depth);
  case Node::Iteration:
    return number(frame.iteration());
  case Node::Hits:
    return number(moment.hits);
  case Node::Tag:
    return text(frame.tag());
  case Node::Name:
    return text(frame.shortName());
  case Node::Unnamed:
    return text(frame.unnamed());
  case Node::Pass: {
    const Frame *pass = frame.passAround();
    return text(pass ? pass->shortName() : "");
  }
  case Node::Context:
    return text(Contexts::all().nameOf(frame.context()));
  case Node::Mlir:
    return text(Contexts::all().mlirOf(frame.context()));
  case Node::Outcome:
    return text(textOf(moment.result));
  case Node::Op: {
    Operation *op = frame.op();
    return text(op ? op->getName().getStringRef() : "");
  }
  case Node::Func:
    return text(frame.function());
  case Node::Line:
  case Node::File: {
    std::optional<FilePlace> place;
    if (Operation *op = frame.op())
      place = firstPlace(op->getLoc());
    if (node == Node::Line)
      return number(place ? place->line : 0);
    return text(place ? place->file.getValue() : "");
  }
  default:
    return number(this->number);
  }
}

bool Condition::matchesGlob(const Operand &left, const Operand &right) const {
  // The match of a text that MLIR owns is cached.
  if (glob)
    return args[0].node >= Node::Op && args[0].node <= Node::Func
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
