//===- Print.cpp - Requests that print IR ---------------------------------===//
//
// IR may be a hundred megabytes: it is passed in a file instead of a message,
// so that neither side has to hold it in memory.
//
//===----------------------------------------------------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/InputNames.h"
#include "print/LinePrinter.h"
#include "print/ValueKeys.h"
#include "requests/Request.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"

namespace adbg {

Operation *nullOperandIn(Operation *op) {
  return firstIn(op, [](Operation *inner) {
    return llvm::is_contained(inner->getOperands(), Value());
  });
}

struct PrintArguments {
  std::string what, path, names, order;
  int64_t id;
  bool generic, locations, skipRegions, mark;
  int64_t elide;
  explicit PrintArguments(Fields &fields)
      : what(fields.text("what")), path(fields.text("path")),
        names(fields.textOr("names", "")), order(fields.textOr("order", "")),
        id(fields.integerOr("id", 1, 0)),
        generic(fields.boolean("generic", false)),
        locations(fields.boolean("locations", false)),
        skipRegions(fields.boolean("skipRegions", false)),
        mark(fields.boolean("mark", false)),
        elide(fields.integerOr("elide", 0, -1)) {
    static constexpr StringRef whats[] = {"cursor", "action", "function",
                                          "module", "operation"};
    if (!llvm::is_contained(whats, what))
      fields.fail("there is no IR '" + what + "' to print");
  }
};

static OpPrintingFlags flagsOf(const PrintArguments &arguments, Operation *root,
                               bool &generic) {
  OpPrintingFlags flags;
  if (arguments.locations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  if (arguments.skipRegions)
    flags.skipRegions();
  if (arguments.elide >= 0)
    flags.elideLargeElementsAttrs(arguments.elide);
  if (nullOperandIn(root)) {
    // The search for aliases would dereference the types of null operands.
    flags.assumeVerified().useLocalScope();
    generic = true;
  }
  if (arguments.generic || generic)
    flags.printGenericOpForm();
  return flags;
}

Operation *moduleOf(const Engine &engine, Operation *op) {
  Operation *root = rootOf(op);
  for (Frame *frame = engine.innermost; frame; frame = frame->parent)
    if (frame->kind == Kind::Step && rootOf(frame->op()) == root)
      if (Operation *payload = frame->payload())
        return rootOf(payload);
  return root;
}

static Operation *rootToPrint(Engine &engine, const PrintArguments &arguments) {
  StringRef what = arguments.what;
  if (what == "operation")
    return ids.find(arguments.id);
  Operation *op = holderOf(engine.stops.cursor);
  if (what == "function") {
    Operation *function = functionAround(op);
    return function ? function : rootOf(op);
  }
  if (what == "module")
    return moduleOf(engine, op);
  if (what == "action")
    return engine.stops.selected ? engine.stops.selected->op() : op;
  return op;
}

/// Adds the range of lines that the cursor's operation takes up.
static void addMark(Object &result, Engine &engine,
                    const AsmState::LocationMap &lines) {
  auto *op = dyn_cast_if_present<Operation *>(engine.stops.cursor);
  auto *first = op ? lines.find(op) : nullptr;
  if (!first)
    return;
  int64_t line = first->second.first;
  int64_t last = line;
  Operation *next = op->getBlock() ? op->getNextNode() : nullptr;
  if (op->getNumRegions() && next)
    if (auto *after = lines.find(next))
      last = std::max<int64_t>(line, int64_t(after->second.first) - 1);
  result["markFirst"] = line;
  result["markLast"] = last;
}

static void printUnit(const IRUnit &unit, Operation *root, AsmState &state,
                      raw_ostream &os) {
  auto *block = dyn_cast_if_present<Block *>(unit);
  if (auto *region = dyn_cast_if_present<Region *>(unit)) {
    for (Block &inner : *region)
      inner.print(os, state);
  } else if (block) {
    block->print(os, state);
  } else {
    root->print(os, state);
    os << "\n";
  }
}

static void writeNamesTo(const std::string &path, Operation *root,
                         Operation *numbered, AsmState &state) {
  if (!isSmall(numbered, mostListed))
    return;
  std::error_code error;
  raw_fd_ostream os(path, error, llvm::sys::fs::OF_None);
  if (error)
    return;
  writePrintedNames(root, numbered, state, os);
  os.flush();
  os.clear_error();
}

/// Identifies the operations in `root` and their order, on which the printer's
/// names depend.
static std::string orderOf(Operation *root) {
  uint64_t hash = 0xcbf29ce484222325;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = (hash ^ ids.of(op)) * 0x100000001b3;
    hash = (hash ^ op->getNumRegions()) * 0x100000001b3;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        hash = (hash ^ block.getNumArguments()) * 0x100000001b3;
  });
  return llvm::utohexstr(hash);
}

static Operation *numberedFor(const PrintArguments &arguments,
                              Operation *root) {
  // A single operation is numbered as in its function, so that its names match
  // every other print.
  if (arguments.what == "cursor" || arguments.what == "action")
    if (Operation *function = functionAround(root))
      return function;
  return root;
}

/// Gives keys to the blocks whose arguments are listed; in a fork they would be
/// lost.
static void keepKeys(const PrintArguments &arguments, Operation *root) {
  Operation *numbered = numberedFor(arguments, root);
  if (isSmall(numbered, mostListed))
    BlockKeys::all().keep(numbered);
}

static Answer printTo(Engine &engine, const PrintArguments &arguments,
                      Operation *root, raw_fd_ostream &os) {
  bool generic = false;
  OpPrintingFlags flags = flagsOf(arguments, root, generic);
  AsmState::LocationMap lines;
  Operation *numbered = numberedFor(arguments, root);
  AsmState state(numbered, flags, arguments.mark ? &lines : nullptr);
  // AsmState selects the generic form for IR that does not verify.
  generic |= !arguments.generic &&
             state.getPrinterFlags().shouldPrintGenericOpForm() &&
             !flags.shouldPrintGenericOpForm();
  IRUnit unit = arguments.what == "cursor" ? engine.stops.cursor : IRUnit(root);
  printUnit(unit, root, state, os);
  os.flush();
  std::string order;
  if (!arguments.names.empty())
    order = orderOf(numbered) +
            // The generic form has no suggested names.
            (state.getPrinterFlags().shouldPrintGenericOpForm() ? "g" : "");
  if (order != arguments.order)
    writeNamesTo(arguments.names, root, numbered, state);
  if (os.has_error()) {
    std::error_code error = os.error();
    os.clear_error();
    return notWritten(arguments.path, error);
  }
  Object result{{"bytes", int64_t(os.tell())},
                {"markFirst", nullptr},
                {"markLast", nullptr},
                {"generic", generic},
                {"order", order},
                {"path", pathTo(engine.stops.cursor, root)}};
  if (arguments.mark)
    addMark(result, engine, lines);
  return result;
}

/// print: prints IR into a file.
static Answer printIR(Engine &engine, const PrintArguments &arguments) {
  bool needsCursor = arguments.what != "operation";
  if (!engine.stops.selected && !engine.stops.cursor)
    return noIR(engine);
  if (needsCursor && !engine.stops.cursor)
    return RequestError(UnitErased,
                        "there is no IR unit to print at this stop");
  Operation *root = rootToPrint(engine, arguments);
  if (!root)
    return RequestError(UnitErased, "the action's IR unit is erased; print "
                                    "cursor, function or module instead");
  std::error_code error;
  raw_fd_ostream os(arguments.path, error, llvm::sys::fs::OF_None);
  if (error)
    return notWritten(arguments.path, error);
  // Numbering the values of a large module takes more memory than its text; and
  // in the middle of a rewrite IR may be incomplete. A single operation,
  // without its regions, is printed here.
  if (!arguments.names.empty())
    keepKeys(arguments, root);
  if (engine.stops.inside || !arguments.skipRegions)
    return answerInFork([&] { return printTo(engine, arguments, root, os); });
  return printTo(engine, arguments, root, os);
}
ADBG_IR_REQUEST("print", printIR, PrintArguments(fields))

//===----------------------------------------------------------------------===//
// A few lines of IR
//===----------------------------------------------------------------------===//

namespace {
/// A line: part `part` of an operation, or the label of a block.
struct LinePlace {
  Operation *op = nullptr;
  unsigned part = 0;
  Block *label = nullptr;

  LinePlace() = default;
  LinePlace(Operation *op, unsigned part = 0) : op(op), part(part) {}
  LinePlace(Block *label) : label(label) {}
  explicit operator bool() const { return op || label; }
  bool operator==(const LinePlace &other) const = default;
};

/// Walks the lines of printed IR in both directions and prints only those that
/// it visits.
class IRLines {
public:
  IRLines(MLIRContext *context, const LineStyle &style)
      : printer(context, style) {}

  /// The line of a unit; the nearest operation around it that is printed, if it
  /// is in a region that is not.
  LinePlace placeOf(const IRUnit &unit) {
    Operation *op = holderOf(unit);
    auto *block = dyn_cast_if_present<Block *>(unit);
    // From the outside in: what is in a region that is not printed is not
    // either.
    std::vector<Operation *> nested;
    for (Operation *each = op; each; each = each->getParentOp())
      nested.push_back(each);
    Operation *shown = nullptr;
    std::ranges::reverse(nested);
    for (Operation *each : nested) {
      if (!isShown(each))
        break;
      shown = each;
    }
    return block && shown == op && around(block->getParent()) && hasLabel(block)
               ? LinePlace(block)
               : LinePlace(shown);
  }

  LinePlace next(LinePlace place) {
    if (place.label)
      return firstIn(place.label);
    if (!place.op)
      return {};
    const PrintedOperation &text = printed(place.op);
    if (place.part + 1 < text.parts.size()) {
      Region *region = text.regions[place.part].region;
      return region->empty() ? LinePlace(place.op, place.part + 1)
                             : firstOf(&region->front());
    }
    Block *block = place.op->getBlock();
    if (!block)
      return {};
    Operation *next = place.op->getNextNode();
    if (next && !isElided(next))
      return next;
    return block->getParentOp() ? after(block) : LinePlace();
  }

  LinePlace previous(LinePlace place) {
    if (place.label)
      return before(place.label);
    if (!place.op)
      return {};
    if (place.part > 0) {
      Region *region = printed(place.op).regions[place.part - 1].region;
      return region->empty() ? LinePlace(place.op, place.part - 1)
                             : lastOf(&region->back());
    }
    Block *block = place.op->getBlock();
    if (!block || !block->getParentOp())
      return {};
    if (Operation *previous = place.op->getPrevNode())
      return lastOf(previous);
    return hasLabel(block) ? LinePlace(block) : before(block);
  }
  unsigned partsOf(Operation *op) { return printed(op).parts.size(); }

  Object describe(const LinePlace &place) {
    Operation *op = place.label ? place.label->getParentOp() : place.op;
    std::string text = place.label ? printer.label(place.label)
                                   : printed(place.op).parts[place.part];
    return Object{{"kind", place.label  ? "label"
                           : place.part ? "part"
                                        : "operation"},
                  {"id", idOrNull(ids.of(op))},
                  {"part", int64_t(place.part)},
                  {"depth", depthOf(place)},
                  {"text", text}};
  }

private:
  const PrintedOperation &printed(Operation *op) {
    auto [entry, isNew] = all.try_emplace(op);
    if (isNew)
      entry->second = printer.print(op);
    return entry->second;
  }

  /// Returns how the operation around a region prints it; null if it does not,
  /// or there is none.
  const PrintedRegion *around(Region *region) {
    Operation *parent = region ? region->getParentOp() : nullptr;
    if (parent)
      for (const PrintedRegion &one : printed(parent).regions)
        if (one.region == region)
          return &one;
    return nullptr;
  }

  bool isShown(Operation *op) {
    Region *region = op->getParentRegion();
    return !region || !region->getParentOp() ||
           (around(region) && !isElided(op));
  }

  /// Whether an implicit terminator is left out: in the first block of a
  /// region.
  bool isElided(Operation *op) {
    Region *region = op->getParentRegion();
    if (!region || !region->getParentOp() || op->getNextNode() ||
        !op->getBlock()->isEntryBlock() || !isTerminator(op))
      return false;
    const PrintedRegion *printed = around(region);
    return printed && !printed->hasTerminators;
  }

  bool hasLabel(Block *block) {
    if (!block->isEntryBlock())
      return true;
    const PrintedRegion *printed = around(block->getParent());
    return printed &&
           ((printed->hasEntryArguments && block->getNumArguments()) ||
            (printed->hasEmptyBlock && block->empty()));
  }

  LinePlace firstOf(Block *block) {
    return hasLabel(block) ? LinePlace(block) : firstIn(block);
  }

  /// The line of the first operation of a block.
  LinePlace firstIn(Block *block) {
    return block->empty() || isElided(&block->front())
               ? after(block)
               : LinePlace(&block->front());
  }

  LinePlace lastOf(Operation *op) { return {op, partsOf(op) - 1}; }

  LinePlace lastOf(Block *block) {
    Operation *last = block->empty() ? nullptr : &block->back();
    if (last && isElided(last))
      last = last->getPrevNode();
    if (last)
      return lastOf(last);
    return hasLabel(block) ? LinePlace(block) : before(block);
  }

  /// The line after the last one of a block.
  LinePlace after(Block *block) {
    Block *next = block->getNextNode();
    return next ? firstOf(next) : partBeside(block->getParent(), 1);
  }

  /// The line before the first one of a block.
  LinePlace before(Block *block) {
    Block *previous = block->getPrevNode();
    return previous ? lastOf(previous) : partBeside(block->getParent(), 0);
  }

  /// The part before a region of an operation, or behind it.
  LinePlace partBeside(Region *region, unsigned behind) {
    const PrintedRegion *one = around(region);
    if (!one)
      return {};
    Operation *parent = region->getParentOp();
    return {parent, unsigned(one - printed(parent).regions.data()) + behind};
  }

  int64_t depthOf(const LinePlace &place) {
    int64_t depth = 0;
    Region *region =
        place.label ? place.label->getParent() : place.op->getParentRegion();
    if (place.label) // as its operation
      --depth;
    if (!place.label && place.part)
      depth += printed(place.op).regions[place.part - 1].indent;
    for (; region && region->getParentOp();
         region = region->getParentRegion()) {
      ++depth;
      if (const PrintedRegion *one = around(region))
        depth += one->indent;
    }
    return depth;
  }

  LinePrinter printer;
  std::map<Operation *, PrintedOperation> all;
};
} // namespace

struct ExcerptArguments {
  int64_t id, part, before, after, elide;
  bool definitions;
  explicit ExcerptArguments(Fields &fields)
      : id(fields.integerOr("id", 1, 0)), part(fields.integerOr("part", 0, 0)),
        before(fields.integerOr("before", 0, 5)),
        after(fields.integerOr("after", 0, 5)),
        elide(fields.integerOr("elide", 0, 16)),
        definitions(fields.boolean("definitions", false)) {}
};

/// Describes the operations that define the operands of the current one, but
/// for those that are among the lines.
static Array definitionsOf(IRLines &lines, const LinePlace &current,
                           const std::deque<LinePlace> &shown) {
  Array all;
  if (!current.op)
    return all;
  std::unordered_set<Operation *> described;
  for (Value operand : current.op->getOperands()) {
    Operation *op = operand ? operand.getDefiningOp() : nullptr;
    if (!op || !described.insert(op).second ||
        llvm::is_contained(shown, LinePlace(op)))
      continue;
    all.push_back(lines.describe(op));
  }
  return all;
}

static Answer describeExcerpt(const ExcerptArguments &arguments,
                              const IRUnit &unit) {
  Operation *holder = holderOf(unit);
  LineStyle style;
  style.elide = arguments.elide;
  IRLines lines(holder->getContext(), style);
  LinePlace current = lines.placeOf(unit);
  if (current.op && arguments.part < int64_t(lines.partsOf(current.op)))
    current.part = arguments.part;
  std::deque<LinePlace> shown{current};
  LinePlace first = lines.previous(current), last = lines.next(current);
  for (int64_t i = 0; i < arguments.before && first; ++i) {
    shown.push_front(first);
    first = lines.previous(first);
  }
  int64_t at = shown.size() - 1;
  for (int64_t i = 0; i < arguments.after && last; ++i) {
    shown.push_back(last);
    last = lines.next(last);
  }
  Array described(
      shown, [&](const LinePlace &place) { return lines.describe(place); });
  Operation *function = functionAround(holder);
  return Object{{"lines", std::move(described)},
                {"current", at},
                {"moreBefore", bool(first)},
                {"moreAfter", bool(last)},
                {"scope", idOrNull(ids.of(scopeOf(holder)))},
                {"function", function ? Json(symbolName(function)) : nullptr},
                {"definitions", arguments.definitions
                                    ? definitionsOf(lines, current, shown)
                                    : Array()}};
}

RequestError noOperation(int64_t id) {
  return RequestError(NoSuchUnit,
                      "there is no operation @" + std::to_string(id) + " now");
}

/// excerpt: the lines around the cursor or an operation. The time that it takes
/// depends on their number, not on the size of the function.
static Answer getExcerpt(Engine &engine, const ExcerptArguments &arguments) {
  if (!engine.stops.selected && !engine.stops.cursor)
    return noIR(engine);
  IRUnit unit = engine.stops.cursor;
  if (arguments.id) {
    Operation *op = ids.find(arguments.id);
    unit = op ? IRUnit(op) : IRUnit();
    if (!unit)
      return noOperation(arguments.id);
  }
  if (!unit)
    return RequestError(UnitErased, "there is no IR unit at this stop");
  return answerInFork([&] { return describeExcerpt(arguments, unit); });
}
ADBG_IR_REQUEST("excerpt", getExcerpt, ExcerptArguments(fields))

/// values: writes the names that MLIR's printer gives to the values in an
/// operation, with their keys, into a file.
static Answer writeValueNames(Engine &, int64_t id, int64_t most,
                              const std::string &path) {
  Operation *scope = ids.find(id);
  if (!scope)
    return noOperation(id);
  if (!isSmall(scope, most))
    return Object{{"written", false}};
  BlockKeys::all().keep(scope);
  return answerInFork([&]() -> Answer {
    std::error_code error;
    raw_fd_ostream os(path, error);
    if (error)
      return notWritten(path, error);
    AsmState state(scope, OpPrintingFlags().useLocalScope().assumeVerified());
    writeNames(scope, state, os);
    return Object{{"written", true}};
  });
}
ADBG_IR_REQUEST("values", writeValueNames, fields.integer("id", 1),
                fields.integerOr("most", 1, 100000), fields.text("path"))

/// values/named: the values that the input names so, dead or alive, and the
/// scope of the cursor.
static Answer findNamed(Engine &engine, const std::string &name) {
  static constexpr size_t most = 1000;
  Array values;
  InputNames::all().withName(name, [&](const auto &one) {
    if (values.size() < most)
      values.push_back(Object{{"key", one.key},
                              {"scope", idOrNull(one.scope)},
                              {"id", idOrNull(one.id)}});
  });
  Operation *op = holderOf(engine.stops.cursor);
  uint32_t scope = op ? ids.of(scopeOf(op)) : 0;
  return Object{{"scope", idOrNull(scope)}, {"values", std::move(values)}};
}
ADBG_IR_REQUEST("values/named", findNamed, fields.text("name"))

} // namespace adbg
