#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/LinePrinter.h"
#include "support/Locations.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"

namespace adbg {

uint32_t idOf(const IRUnit &unit) {
  Operation *op = holderOf(unit);
  return op ? ids.of(op) : 0;
}

Array describeWritten() {
  const Written &written = Files::written();
  return Array{int64_t(written.bytes[0]), int64_t(written.bytes[1])};
}

StringRef whenOf(const Frame &frame, bool inside) {
  if (inside)
    return "during";
  return frame.over ? "after" : "before";
}

Object hello(const Engine &engine) {
  const Frame *at = engine.stops.stoppedAt;
  Object hello{{"protocol", 5},
               {"pid", int64_t(getpid())},
               {"parent", int64_t(getppid())},
               {"role", textOf(engine.forks.role)},
               {"ordinal", int64_t(engine.position.ordinal)},
               {"event", int64_t(engine.position.event)},
               {"when", at ? Json(whenOf(*at, engine.stops.inside)) : nullptr}};
  addCapabilities(hello);
  return hello;
}

std::optional<std::string> placeText(Location loc) {
  std::optional<FilePlace> place = firstPlace(loc);
  if (!place)
    return std::nullopt;
  return place->file.getValue() + ":" + std::to_string(place->line) + ":" +
         std::to_string(place->column);
}

void addOperation(Object &object, const Frame &frame) {
  const ErasedUnit *erased =
      frame.units.empty() ? nullptr : frame.erasedUnit(0);
  if (Operation *op = erased ? nullptr : frame.op())
    return addOperation(object, op);
  object["id"] = idOrNull(erased ? erased->id : 0);
  object["op"] = textOrNull(erased ? erased->name.getStringRef() : "");
  object["location"] = erased ? placeText(erased->location) : std::nullopt;
  object["function"] =
      erased && erased->function ? Json(erased->function.getValue()) : nullptr;
}

void addOperation(Object &object, Operation *op) {
  Operation *holder = functionAround(op);
  object["id"] = idOrNull(ids.of(op));
  object["op"] = op->getName().getStringRef();
  object["location"] = placeText(op->getLoc());
  object["function"] = holder ? Json(symbolName(holder)) : nullptr;
}

void addAction(Object &object, const Frame &frame) {
  object["ordinal"] = int64_t(frame.ordinal);
  object["tag"] = frame.tag();
  object["name"] = frame.name();
  object["depth"] = int64_t(frame.depth);
  object["context"] = contextJson(frame.context());
  object["mlir"] = mlirJson(frame.context());
}

Object describeFrame(const Frame &frame, int64_t index, bool withUnits) {
  Object object{{"index", index},
                {"units", withUnits ? describeUnits(frame) : Array()}};
  addAction(object, frame);
  addOperation(object, frame);
  return object;
}

Object describeAction(const Frame &frame, int64_t index, bool inside) {
  Object object = describeFrame(frame, index);
  int64_t iteration = frame.iteration();
  Operation *op = frame.op();
  object["fullName"] = frame.fullName();
  object["labels"] = Array(frame.labels());
  object["iteration"] = iteration < 0 ? Json(nullptr) : Json(iteration);
  object["text"] = frame.text();
  object["fullLocation"] = op ? Json(printed(op->getLoc())) : nullptr;
  object["when"] = whenOf(frame, inside);
  return object;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// One line, with `{...}` in the place of regions.
static std::string oneLine(LinePrinter &printer, Operation *op) {
  return llvm::join(printer.print(op).parts, "...");
}

/// Returns a count and its noun, such as "1 block" and "2 blocks".
static std::string plural(size_t count, StringRef noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

static std::string textOf(const IRUnit &unit, LinePrinter &printer) {
  if (auto *op = dyn_cast_if_present<Operation *>(unit))
    return oneLine(printer, op);
  std::string text;
  raw_string_ostream os(text);
  Operation *holder = holderOf(unit);
  StringRef name = holder ? holder->getName().getStringRef() : "nothing";
  if (auto *region = dyn_cast_if_present<Region *>(unit)) {
    os << "region " << region->getRegionNumber() << " of " << name << ", "
       << plural(std::ranges::distance(*region), "block");
  } else if (auto *block = dyn_cast_if_present<Block *>(unit)) {
    os << "block "
       << StringRef(printer.label(block)).split('(').first.rtrim(':') << " of "
       << name << ", " << plural(block->getNumArguments(), "argument") << ", "
       << plural(std::ranges::distance(*block), "operation");
  } else if (auto value = dyn_cast_if_present<Value>(unit)) {
    value.print(os, OpPrintingFlags().skipRegions().useLocalScope());
  }
  return text;
}

StringRef kindText(const IRUnit &unit) {
  if (isa_and_present<Region *>(unit))
    return "region";
  if (isa_and_present<Block *>(unit))
    return "block";
  return isa_and_present<Value>(unit) ? "value" : "operation";
}

/// Cuts a long text, but not within a value's key.
static std::string shortened(StringRef text) {
  StringRef kept = text.take_front(4093);
  if (kept.count(PrintedOperation::mark) % 2)
    kept = kept.substr(0, kept.rfind(PrintedOperation::mark));
  return kept + "...";
}

Object describeUnit(const IRUnit &unit) {
  Operation *op = holderOf(unit);
  std::string text;
  if (op) {
    LinePrinter printer(op->getContext(), LineStyle());
    text = textOf(unit, printer);
  }
  if (text.size() > 4096)
    text = shortened(text);
  return Object{{"kind", kindText(unit)},
                {"name", op ? Json(op->getName().getStringRef()) : nullptr},
                {"state", "alive"},
                {"id", idOrNull(idOf(unit))},
                {"text", text},
                {"location", op ? Json(placeText(op->getLoc())) : nullptr}};
}

Array describeUnits(const Frame &frame) {
  Array units;
  for (size_t i = 0; i < frame.units.size(); ++i) {
    const ErasedUnit *erased = frame.erasedUnit(i);
    if (!erased) {
      units.push_back(describeUnit(frame.units[i]));
      continue;
    }
    if (erased->by) {
      Object by = describeUnit(IRUnit(erased->by));
      by["state"] = "replaced";
      units.push_back(std::move(by));
      continue;
    }
    units.push_back(Object{{"kind", kindText(frame.units[i])},
                           {"name", erased->name.getStringRef()},
                           {"state", "erased"},
                           {"id", idOrNull(erased->id)},
                           {"text", nullptr},
                           {"location", placeText(erased->location)}});
  }
  return units;
}

//===----------------------------------------------------------------------===//
// Outcomes and changes as JSON
//===----------------------------------------------------------------------===//

Json idOrNull(uint32_t id) { return id ? Json(int64_t(id)) : nullptr; }

Json textOrNull(StringRef text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string describeFolded(OpFoldResult result, const Observer &observer) {
  if (auto attribute = dyn_cast<Attribute>(result)) {
    std::string text = printed(attribute);
    return text.size() > 200 ? text.substr(0, 197) + "..." : text;
  }
  ValueName name = observer.nameOf(cast<Value>(result));
  return (name.isArgument ? "block argument " : "result ") +
         std::to_string(name.result) + " of @" + std::to_string(name.id) + " " +
         name.op;
}

static std::optional<std::string> howOf(const Frame &frame) {
  if (frame.found != Found::Nothing)
    return textOf(frame.found).str();
  if (!frame.isConversion())
    return std::nullopt;
  return "legalized " + plural(frame.legalized, "operation") +
         ", rolled back " + plural(frame.rolledBack, "pattern");
}

Json describeOutcome(const Frame &frame) {
  return Object{{"result", textOf(frame.result())},
                {"reasons", frame.rare().reasons},
                {"how", howOf(frame)},
                {"values", frame.rare().values},
                {"unheard", frame.isUnheard}};
}

static Json describeChange(const Change &change) {
  Object object{{"kind", textOf(change.kind)},
                {"what", change.isBlock ? "block" : "operation"},
                {"op", change.op.getStringRef()},
                {"id", idOrNull(change.id)},
                {"by", nullptr},
                {"location", placeText(change.loc)},
                {"ordinal", int64_t(change.ordinal)},
                {"guess", change.guess}};
  if (change.kind != ChangeKind::Replaced)
    return object;
  object["by"] = Array(change.by, [](const ValueName &value) {
    return Object{
        {"id", idOrNull(value.id)},
        {"op", value.isArgument ? StringRef("block argument") : value.op},
        {"result", int64_t(value.result)}};
  });
  return object;
}

Array describeChanges(const Frame &frame, const ChangeLog &log, bool nested,
                      uint64_t most) {
  Array changes;
  if (frame.kind == Kind::None)
    return changes;
  for (uint64_t i = std::max(frame.tally.first, log.begin());
       i < log.end() && changes.size() < most; ++i)
    if (nested || log[i].ordinal == frame.ordinal)
      changes.push_back(describeChange(log[i]));
  return changes;
}

Json toJSON(const Culprit &culprit) {
  return Object{{"ordinal", int64_t(culprit.ordinal)},
                {"tag", culprit.tag},
                {"name", culprit.name},
                {"guess", culprit.guess}};
}

//===----------------------------------------------------------------------===//
// What is around an operation
//===----------------------------------------------------------------------===//

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
  Object describe(Operation *op, int levels) {
    Object attributes;
    auto add = [&](StringAttr name, Attribute value) {
      attributes[name.getValue()] = text(value);
    };
    // Not the dictionary of all, nor the segment sizes: MLIR would make them,
    // and the addresses of later attributes, by which it orders tables, would
    // change.
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

  Array results(Operation *op) {
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

  Array regions(Operation *op) {
    Array all;
    for (Region &region : op->getRegions() | std::views::take(most))
      all.push_back(describe(region));
    return all;
  }

  Array successors(Operation *op) {
    Array all;
    for (Block *block : op->getSuccessors())
      if (block && all.size() < most)
        all.push_back(Object{
            {"predecessors", countOf(block->getPredecessors())},
            {"arguments", int64_t(block->getNumArguments())},
            {"operations", countOf(*block)},
            {"first", block->empty()
                          ? Json(nullptr)
                          : Json(block->front().getName().getStringRef())},
            {"block", numberOf(block)}});
    return all;
  }

  /// Describes the operation before or after another one.
  Json adjacent(Operation *op) {
    if (!op)
      return nullptr;
    Array operands;
    for (Value operand : op->getOperands() | std::views::take(most))
      operands.push_back(numberOf(operand));
    return Object{{"name", op->getName().getStringRef()},
                  {"operands", std::move(operands)}};
  }

private:
  static constexpr size_t most = 16, mostCounted = 1000, mostText = 200;

  template <typename T> std::string text(T printed) {
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

  template <typename Range> int64_t countOf(Range &&range) {
    size_t count = 0;
    for (auto it = range.begin(); it != range.end() && count < mostCounted;
         ++it)
      ++count;
    return int64_t(count);
  }

  int64_t numberOf(Value value) {
    return value ? values.try_emplace(value, values.size() + 1).first->second
                 : 0;
  }
  int64_t numberOf(Block *block) {
    return blocks.try_emplace(block, blocks.size() + 1).first->second;
  }

  /// `block`: of the operation that uses the value.
  Object describe(Value value, Block *block, int levels) {
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

  Object describe(Region &region) {
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
    object["names"] = Array(found);
    object["yielded"] = std::move(yielded);
    return object;
  }

  OperationNames &names;
  AsmState state;
  std::unordered_map<Value, int64_t> values;
  std::unordered_map<Block *, int64_t> blocks;
};
} // namespace

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
