//===- Neighbourhood.cpp - What is around an operation --------------------===//

#include "engine/Describe.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

namespace {
/// Describes one neighbourhood. Values and blocks are numbered in the order in
/// which they are met: equal numbers mean the same value.
class Neighbourhood {
public:
  Neighbourhood(MLIRContext *context, OperationNames &names)
      : names(names), state(context, OpPrintingFlags()
                                         .useLocalScope()
                                         .assumeVerified()
                                         .elideLargeElementsAttrs(16)
                                         .elideLargeResourceString(16)) {}

  /// `levels`: of operations that define operands.
  Object describe(Operation *op, int levels);
  Array results(Operation *op);
  Array regions(Operation *op);
  Array successors(Operation *op);
  /// Describes the operation before or after another one.
  Json adjacent(Operation *op);

private:
  static constexpr size_t most = 16, mostCounted = 1000, mostText = 200;

  template <typename T> std::string text(T printed);
  template <typename Range> static int64_t countOf(Range &&range);
  int64_t numberOf(Value value) {
    return value ? values.try_emplace(value, values.size() + 1).first->second
                 : 0;
  }
  int64_t numberOf(Block *block) {
    return blocks.try_emplace(block, blocks.size() + 1).first->second;
  }
  Object describe(Value value, Block *block, int levels);
  Object describe(Region &region);

  OperationNames &names;
  AsmState state;
  std::unordered_map<Value, int64_t> values;
  std::unordered_map<Block *, int64_t> blocks;
};
} // namespace

template <typename T> std::string Neighbourhood::text(T printed) {
  std::string text;
  raw_string_ostream os(text);
  if constexpr (std::is_base_of_v<Attribute, T>)
    printed.print(os, state);
  else
    printed.print(os);
  if (text.size() > mostText)
    text = text.substr(0, mostText) + "...";
  return text;
}

template <typename Range> int64_t Neighbourhood::countOf(Range &&range) {
  size_t count = 0;
  for (auto it = range.begin(); it != range.end() && count < mostCounted; ++it)
    ++count;
  return int64_t(count);
}

Object Neighbourhood::describe(Operation *op, int levels) {
  Object attributes;
  auto add = [&](StringAttr name, Attribute value) {
    attributes[name.getValue()] = text(value);
  };
  // Not the dictionary of all, nor the segment sizes: MLIR would make them, and
  // the addresses of later attributes, by which it orders tables, would change.
  for (NamedAttribute one : op->getRawDictionaryAttrs())
    add(one.getName(), one.getValue());
  if (op->getPropertiesStorageSize())
    for (StringAttr name : op->getName().getAttributeNames())
      if (!name.getValue().ends_with("SegmentSizes"))
        if (auto value = op->getInherentAttr(name); value && *value)
          add(name, *value);
  Array operands;
  if (levels > 0)
    for (Value operand : op->getOperands() | std::views::take(most))
      operands.push_back(describe(operand, op->getBlock(), levels - 1));
  return Object{{"name", op->getName().getStringRef()},
                {"constant", names.ofFolded(op).isConstant},
                {"attributes", std::move(attributes)},
                {"operandCount", int64_t(op->getNumOperands())},
                {"resultCount", int64_t(op->getNumResults())},
                {"operands", std::move(operands)}};
}

/// `block`: of the operation that uses the value.
Object Neighbourhood::describe(Value value, Block *block, int levels) {
  // IR inside an action can hold null operands.
  if (!value)
    return Object{{"value", 0}, {"type", ""}, {"uses", 0}, {"local", false}};
  Operation *definer = value.getDefiningOp();
  Object object{{"value", numberOf(value)},
                {"type", text(value.getType())},
                {"uses", countOf(value.getUses())},
                {"local", value.getParentBlock() == block}};
  if (definer) {
    object["definer"] = describe(definer, levels);
  } else if (Operation *holder = value.getParentBlock()->getParentOp()) {
    object["argumentOf"] = holder->getName().getStringRef();
    object["index"] = int64_t(cast<BlockArgument>(value).getArgNumber());
  }
  return object;
}

Array Neighbourhood::results(Operation *op) {
  Array all;
  for (Value result : op->getResults() | std::views::take(most)) {
    Array users;
    for (OpOperand &use : result.getUses()) {
      if (users.size() == most)
        break;
      Operation *user = use.getOwner();
      users.push_back(Object{{"name", user->getName().getStringRef()},
                             {"operand", int64_t(use.getOperandNumber())},
                             {"local", user->getBlock() == op->getBlock()}});
    }
    all.push_back(Object{{"value", numberOf(result)},
                         {"type", text(result.getType())},
                         {"uses", countOf(result.getUses())},
                         {"users", std::move(users)}});
  }
  return all;
}

Object Neighbourhood::describe(Region &region) {
  Object object{{"blocks", countOf(region)}};
  if (region.empty())
    return object;
  Block &entry = region.front();
  Array arguments, yielded;
  for (BlockArgument argument : entry.getArguments().take_front(most))
    arguments.push_back(Object{{"value", numberOf(argument)},
                               {"type", text(argument.getType())},
                               {"uses", countOf(argument.getUses())},
                               {"local", true}});
  std::vector<StringRef> found;
  size_t count = 0;
  for (Operation &op : entry) {
    if (++count > mostCounted)
      break;
    StringRef name = op.getName().getStringRef();
    if (found.size() < most && !llvm::is_contained(found, name))
      found.push_back(name);
  }
  if (!entry.empty())
    for (Value operand : entry.back().getOperands() | std::views::take(most))
      yielded.push_back(describe(operand, &entry, 0));
  object["operations"] = int64_t(count);
  object["arguments"] = std::move(arguments);
  object["names"] = Array();
  for (StringRef name : found)
    object["names"].getAsArray()->push_back(name);
  object["yielded"] = std::move(yielded);
  return object;
}

Array Neighbourhood::regions(Operation *op) {
  Array all;
  for (Region &region : op->getRegions() | std::views::take(most))
    all.push_back(describe(region));
  return all;
}

Array Neighbourhood::successors(Operation *op) {
  Array all;
  for (Block *block : op->getSuccessors())
    if (block && all.size() < most)
      all.push_back(
          Object{{"predecessors", countOf(block->getPredecessors())},
                 {"arguments", int64_t(block->getNumArguments())},
                 {"operations", countOf(*block)},
                 {"first", block->empty()
                               ? Json(nullptr)
                               : Json(block->front().getName().getStringRef())},
                 {"block", numberOf(block)}});
  return all;
}

Json Neighbourhood::adjacent(Operation *op) {
  if (!op)
    return nullptr;
  Array operands;
  for (Value operand : op->getOperands() | std::views::take(most))
    operands.push_back(numberOf(operand));
  return Object{{"name", op->getName().getStringRef()},
                {"operands", std::move(operands)}};
}

Object describeNeighbourhood(Operation *op, OperationNames &names) {
  Neighbourhood around(op->getContext(), names);
  Object object = around.describe(op, /*levels=*/2);
  object["results"] = around.results(op);
  object["regions"] = around.regions(op);
  object["successors"] = around.successors(op);
  Array parents;
  for (Operation *parent = op->getParentOp(); parent && parents.size() < 8;
       parent = parent->getParentOp())
    parents.push_back(parent->getName().getStringRef());
  object["parents"] = std::move(parents);
  object["previous"] =
      around.adjacent(op->getBlock() ? op->getPrevNode() : nullptr);
  object["next"] =
      around.adjacent(op->getBlock() ? op->getNextNode() : nullptr);
  return object;
}

} // namespace adbg
