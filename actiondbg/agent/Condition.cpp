//===- Condition.cpp - Conditions over the fields of an action
//--------------===//

#include "Match.h"
#include "Versions.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

static bool isField(StringRef name) {
  static const std::set<std::string> fields = {
      "ordinal", "depth", "iteration", "line", "hits",
      "tag",     "name",  "op",        "file", "func"};
  return fields.count(name.str()) != 0;
}

static size_t arity(StringRef call) {
  static const std::set<std::string> binary = {"and", "or", "==", "!=", "<",
                                               "<=",  ">",  ">=", "~",  "!~"};
  return call == "not" ? 1 : binary.count(call.str()) ? 2 : 0;
}

std::optional<Condition> Condition::parse(const llvm::json::Value &value,
                                          std::string &error) {
  Condition result;
  const llvm::json::Object *object = value.getAsObject();
  if (!object) {
    error = "a part of a condition is not an object";
    return std::nullopt;
  }
  if (auto field = object->getString("field"); field && isField(*field)) {
    result.field = field->str();
    return result;
  }
  if (auto number = object->getInteger("value")) {
    result.constant.number = *number;
    return result;
  }
  if (auto text = object->getString("value")) {
    result.constant.isText = true;
    result.constant.text = text->str();
    return result;
  }
  auto call = object->getString("call");
  const llvm::json::Array *args = object->getArray("args");
  if (!call || !args || !arity(*call) || args->size() != arity(*call)) {
    error = "a part of a condition is not a field, a value or a call";
    return std::nullopt;
  }
  result.call = call->str();
  for (const llvm::json::Value &arg : *args) {
    std::optional<Condition> parsed = parse(arg, error);
    if (!parsed)
      return std::nullopt;
    result.args.push_back(std::move(*parsed));
  }
  return result;
}

Condition::Operand Condition::value(const Frame &frame, uint64_t hits) const {
  if (field.empty())
    return constant;
  auto number = [](int64_t value) { return Operand{false, value, {}}; };
  auto text = [](std::string value) {
    return Operand{true, 0, std::move(value)};
  };
  if (field == "ordinal")
    return number(frame.ordinal);
  if (field == "depth")
    return number(frame.depth);
  if (field == "iteration")
    return number(frame.iteration());
  if (field == "hits")
    return number(hits);
  if (field == "tag")
    return text(frame.tag().str());
  if (field == "name")
    return text(frame.name());
  Operation *op = frame.op();
  if (field == "op")
    return text(op ? op->getName().getStringRef().str() : "");
  if (field == "func") {
    Operation *function = op ? functionAround(op) : nullptr;
    return text(function ? symbolName(function).str() : "");
  }
  std::optional<FilePlace> place;
  if (op)
    place = firstPlace(op->getLoc());
  if (field == "line")
    return number(place ? place->line : 0);
  return text(place ? place->file.str() : "");
}

bool Condition::compare(const Frame &frame, uint64_t hits) const {
  Operand left = args[0].value(frame, hits);
  Operand right = args[1].value(frame, hits);
  if (call == "~" || call == "!~") {
    std::string error;
    std::optional<Glob> glob = Glob::create(right.text, error);
    return glob && glob->matches(left.text) == (call == "~");
  }
  int order = left.isText
                  ? StringRef(left.text).compare(right.text)
                  : (left.number > right.number) - (left.number < right.number);
  return llvm::StringSwitch<bool>(call)
      .Case("==", order == 0)
      .Case("!=", order != 0)
      .Case("<", order < 0)
      .Case("<=", order <= 0)
      .Case(">", order > 0)
      .Default(order >= 0);
}

bool Condition::holds(const Frame &frame, uint64_t hits) const {
  if (call == "and")
    return args[0].holds(frame, hits) && args[1].holds(frame, hits);
  if (call == "or")
    return args[0].holds(frame, hits) || args[1].holds(frame, hits);
  if (call == "not")
    return !args[0].holds(frame, hits);
  if (!call.empty())
    return compare(frame, hits);
  // A lone field or value is refused by the front end; be lenient here.
  Operand lone = value(frame, hits);
  return lone.isText ? !lone.text.empty() : lone.number != 0;
}

} // namespace adbg
