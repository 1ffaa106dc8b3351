//===- Cursor.cpp - Requests about the cursor -----------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/ValueKeys.h"
#include "requests/Request.h"
#include "support/Locations.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// IR units by name or location
//===----------------------------------------------------------------------===//

using FoundUnit = std::variant<IRUnit, RequestError>;

/// Returns the region that a unit is, or is in; null if there is none.
static Region *regionOf(const IRUnit &unit) {
  if (auto *region = dyn_cast_if_present<Region *>(unit))
    return region;
  if (auto *block = dyn_cast_if_present<Block *>(unit))
    return block->getParent();
  Operation *op = holderOf(unit);
  return op ? op->getParentRegion() : nullptr;
}

/// Whether values defined in `region` are visible at the cursor.
static bool isVisible(Region *region, const IRUnit &cursor) {
  Region *own = regionOf(cursor);
  return own && region->isAncestor(own);
}

/// Finds the value with a name in one naming scope; null if there is none.
static Value findIn(Operation *scope, const IRUnit &cursor, StringRef name) {
  AsmState state(scope, OpPrintingFlags().useLocalScope().assumeVerified());
  std::vector<Value> found;
  // SSA names are reused in each region: several values may have this one.
  auto consider = [&](Value value) {
    std::string text;
    raw_string_ostream os(text);
    value.printAsOperand(os, state);
    StringRef whole(text);
    if (whole == name || whole.split('#').first == name)
      found.push_back(value);
  };
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != scope)
      for (OpResult result : op->getResults())
        consider(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          consider(argument);
    // An isolated operation is a naming scope of its own.
    return op != scope && isIsolated(op) ? WalkResult::skip()
                                         : WalkResult::advance();
  });
  if (found.empty())
    return nullptr;
  Value best = found.front();
  for (Value value : found)
    if (isVisible(value.getParentRegion(), cursor))
      best = value;
  return best;
}

static IRUnit definerOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return IRUnit(op);
  return IRUnit(cast<BlockArgument>(value).getOwner());
}

/// Finds the unit that defines a value, by its SSA name; among several values
/// of that name, the innermost that is visible at the cursor.
static FoundUnit findValue(const IRUnit &cursor, StringRef name) {
  Operation *inner = scopeOf(holderOf(cursor));
  for (Operation *scope = inner; scope; scope = scope->getParentOp())
    if (scope == inner || isIsolated(scope))
      if (Value value = findIn(scope, cursor, name))
        return definerOf(value);
  Value found;
  rootOf(inner)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumRegions() && isIsolated(op))
      found = findIn(op, cursor, name);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found)
    return RequestError(NoSuchUnit,
                        "there is no value " + name.str() + " in the module");
  return definerOf(found);
}

/// Lists the operations of several values with one name.
static std::string whichOf(ArrayRef<IRUnit> found) {
  static constexpr size_t most = 4;
  std::string text;
  raw_string_ostream os(text);
  os << "the name is that of " << found.size() << " values: of ";
  llvm::interleaveComma(found.take_front(most), os, [&](const IRUnit &unit) {
    os << "@" << ids.of(holderOf(unit));
  });
  if (found.size() > most)
    os << " and others";
  os << "; give an id, such as @" << ids.of(holderOf(found.front()))
     << ", or move the cursor to where only one is visible";
  return text;
}

/// Finds the unit that defines one of the values with these keys, separated by
/// blanks; among several, the innermost that is visible at the cursor.
static FoundUnit findKeys(const IRUnit &cursor, StringRef keys) {
  Operation *root = rootOf(holderOf(cursor));
  IRUnit visible;
  std::vector<IRUnit> found;
  std::vector<StringRef> all;
  keys.split(all, ' ');
  for (StringRef key : all) {
    IRUnit unit = findKey(root, key);
    if (!unit)
      continue;
    Region *region = regionOf(unit);
    found.push_back(unit);
    if (region &&
        (holderOf(unit) == holderOf(cursor) || isVisible(region, cursor)))
      visible = unit;
  }
  if (found.empty())
    return RequestError(UnitErased, "the value does not exist any more");
  if (found.size() == 1 || visible)
    return visible ? visible : found.front();
  return RequestError(NoSuchUnit, whichOf(found));
}

static FoundUnit findSymbol(const IRUnit &cursor, StringRef name) {
  Operation *found = firstIn(rootOf(holderOf(cursor)), [&](Operation *op) {
    return symbolName(op) == name;
  });
  if (!found)
    return RequestError(NoSuchUnit, "there is no symbol @" + name.str());
  return IRUnit(found);
}

static bool isAt(Location loc, StringRef path, int64_t line, int64_t column) {
  return visitLocations(loc, [&](Location inner) {
    std::optional<FilePlace> place = asFilePlace(inner);
    if (!place || place->line > line || place->lastLine < line ||
        (column && place->column != column))
      return false;
    StringRef file = place->file.getValue();
    return file == path ||
           (file.ends_with(path) && file.drop_back(path.size()).ends_with("/"));
  });
}

/// Finds the operation at a location. `path` matches by whole components from
/// its end. `column`: 0 for any.
static FoundUnit findLocation(const IRUnit &cursor, StringRef path,
                              int64_t line, int64_t column) {
  Operation *found = firstIn(rootOf(holderOf(cursor)), [&](Operation *op) {
    return isAt(op->getLoc(), path, line, column);
  });
  if (!found)
    return RequestError(NoSuchUnit,
                        "no operation has the location " + path + ":" +
                            std::to_string(line) +
                            (column ? ":" + std::to_string(column) : ""));
  return IRUnit(found);
}

//===----------------------------------------------------------------------===//
// Around IR units
//===----------------------------------------------------------------------===//

static IRUnit parentOf(const IRUnit &unit) {
  if (auto *op = dyn_cast_if_present<Operation *>(unit))
    return op->getBlock() ? IRUnit(op->getBlock()) : IRUnit();
  if (auto *block = dyn_cast_if_present<Block *>(unit))
    return block->getParent() ? IRUnit(block->getParent()) : IRUnit();
  Operation *holder = holderOf(unit);
  return holder ? IRUnit(holder) : IRUnit();
}

/// Returns the index of a unit in its parent; -1 for an operation that its
/// block does not contain, as in the middle of a rewrite: a search from the
/// operation would never end.
static int64_t positionOf(const IRUnit &unit) {
  if (auto *block = dyn_cast_if_present<Block *>(unit))
    return positionOf(block);
  if (auto *region = dyn_cast_if_present<Region *>(unit))
    return region->getRegionNumber();
  int64_t position = 0;
  for (Operation &each : *cast<Operation *>(unit)->getBlock()) {
    if (&each == cast<Operation *>(unit))
      return position;
    ++position;
  }
  return -1;
}

Array pathTo(const IRUnit &unit, Operation *root) {
  std::vector<int64_t> path;
  IRUnit at = unit, parent;
  if (isa_and_present<Value>(unit))
    at = IRUnit(holderOf(unit));
  for (; at != IRUnit(root) && (parent = parentOf(at)); at = parent)
    path.push_back(positionOf(at));
  std::ranges::reverse(path);
  return Array(path);
}

//===----------------------------------------------------------------------===//
// The cursor
//===----------------------------------------------------------------------===//

static Object describeCursorHere(const Engine &engine) {
  Operation *op = holderOf(engine.stops.cursor);
  Operation *function = op ? functionAround(op) : nullptr;
  return Object{{"unit", describeUnit(engine.stops.cursor)},
                {"function", function ? Json(symbolName(function)) : nullptr},
                {"path", pathTo(engine.stops.cursor, rootOf(op))}};
}

static Answer describeCursor(const Engine &engine) {
  return answerInFork([&] { return describeCursorHere(engine); });
}

RequestError noIR(const Engine &engine) {
  if (!engine.position.ordinal)
    return RequestError(NotStopped, "no action has been dispatched yet");
  return RequestError(NotStopped,
                      "the tool is stopped outside of any action, and what it "
                      "reports is not about an operation of its IR");
}

static RequestError noCursor(const Engine &engine) {
  if (!engine.stops.selected)
    return noIR(engine);
  return RequestError(
      UnitErased, "the action's IR unit is erased, and no action around it has "
                  "one that is alive; step or continue to the next stop");
}

/// cursor/get: the IR unit in view.
static Answer getCursor(Engine &engine) {
  if (!engine.stops.cursor)
    return noCursor(engine);
  return describeCursor(engine);
}
ADBG_IR_REQUEST("cursor/get", getCursor)

//===----------------------------------------------------------------------===//
// Links between operations
//===----------------------------------------------------------------------===//

static std::vector<Operation *> linksOf(const IRUnit &unit, bool users) {
  std::vector<Operation *> links;
  std::unordered_set<Operation *> seen;
  auto add = [&](Operation *link) {
    if (seen.insert(link).second)
      links.push_back(link);
  };
  if (auto *op = dyn_cast_if_present<Operation *>(unit)) {
    if (users)
      for (Operation *user : op->getUsers())
        add(user);
    else
      for (Value operand : op->getOperands())
        if (Operation *def = operand ? operand.getDefiningOp() : nullptr)
          add(def);
  } else if (auto *block = dyn_cast_if_present<Block *>(unit)) {
    for (BlockArgument argument : block->getArguments())
      for (Operation *user : argument.getUsers())
        if (users)
          add(user);
  }
  return links;
}

/// cursor/links: the operations that define the cursor's operands, or those
/// that use its results.
static Answer getLinks(Engine &engine, bool users) {
  if (!engine.stops.cursor)
    return noCursor(engine);
  return answerInFork([&] {
    auto describe = [](Operation *op) { return describeUnit(IRUnit(op)); };
    return Object{
        {"units", Array(linksOf(engine.stops.cursor, users), describe)}};
  });
}
ADBG_IR_REQUEST("cursor/links", getLinks,
                fields.choice<bool>("direction", "direction",
                                    {{"defs", false}, {"users", true}}))

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

struct MoveCursorArguments {
  std::string to;
  int64_t index, count;
  std::string name, path;
  int64_t line, column;
  explicit MoveCursorArguments(Fields &fields)
      : to(fields.text("to")), index(fields.integerOr("index", 0, 0)),
        count(fields.integerOr("count", 1, 1)), name(fields.textOr("name", "")),
        path(fields.textOr("path", "")), line(fields.integerOr("line", 1, 0)),
        column(fields.integerOr("column", 1, 0)) {
    static constexpr StringRef moves[] = {
        "context",  "parent",   "child",  "previous", "next",
        "function", "module",   "def",    "user",     "value",
        "symbol",   "location", "action", "id",       "keys"};
    if (!llvm::is_contained(moves, to))
      fields.fail("there is no move to '" + to + "'");
  }
};

template <typename Range> static IRUnit nth(Range &&range, int64_t index) {
  for (auto &element : range)
    if (index-- == 0)
      return IRUnit(&element);
  return IRUnit();
}

static IRUnit childOf(const IRUnit &unit, int64_t index) {
  if (auto *op = dyn_cast_if_present<Operation *>(unit))
    return nth(op->getRegions(), index);
  if (auto *region = dyn_cast_if_present<Region *>(unit))
    return nth(*region, index);
  if (auto *block = dyn_cast_if_present<Block *>(unit))
    return nth(*block, index);
  return IRUnit();
}

template <typename T> static IRUnit unitOrNone(T *pointer) {
  return pointer ? IRUnit(pointer) : IRUnit();
}

static IRUnit siblingOf(const IRUnit &unit, bool forward) {
  if (auto *op = dyn_cast_if_present<Operation *>(unit)) {
    if (!op->getBlock())
      return IRUnit();
    return unitOrNone(forward ? op->getNextNode() : op->getPrevNode());
  }
  if (auto *block = dyn_cast_if_present<Block *>(unit)) {
    if (!block->getParent())
      return IRUnit();
    return unitOrNone(forward ? block->getNextNode() : block->getPrevNode());
  }
  auto *region = dyn_cast_if_present<Region *>(unit);
  Operation *parent = region ? region->getParentOp() : nullptr;
  if (!parent)
    return IRUnit();
  int64_t index = int64_t(region->getRegionNumber()) + (forward ? 1 : -1);
  return index < 0 ? IRUnit() : nth(parent->getRegions(), index);
}

static FoundUnit foundOr(IRUnit unit, std::string otherwise) {
  if (unit)
    return unit;
  return RequestError(NoSuchUnit, std::move(otherwise));
}

static FoundUnit findSibling(IRUnit unit, int64_t count, bool forward) {
  for (int64_t i = 0; i < count; ++i) {
    unit = siblingOf(unit, forward);
    if (unit)
      continue;
    StringRef side = forward ? " after the cursor" : " before the cursor";
    if (i == 0)
      return RequestError(NoSuchUnit, "there is no unit" + side);
    StringRef start = i == 1 ? "there is only 1 unit" : "there are only ";
    std::string count = i == 1 ? "" : std::to_string(i) + " units";
    return RequestError(NoSuchUnit, start + count + side);
  }
  return unit;
}

static FoundUnit findInContext(const Frame *frame, int64_t index) {
  int64_t size = frame ? frame->units.size() : 0;
  if (index >= size)
    return RequestError(NoSuchUnit, "there is no IR unit " +
                                        std::to_string(index) +
                                        " in the context: it has " +
                                        std::to_string(size) + ", from 0");
  const ErasedUnit *erased = frame->erasedUnit(index);
  if (erased && !erased->by)
    return RequestError(UnitErased, "IR unit " + std::to_string(index) + " (" +
                                        erased->name.getStringRef() +
                                        ") is erased");
  return erased ? IRUnit(erased->by) : frame->units[index];
}

static FoundUnit findLink(const IRUnit &cursor, int64_t index, bool users) {
  std::vector<Operation *> links = linksOf(cursor, users);
  int64_t size = links.size();
  const char *what = users ? "users" : "defining operations";
  if (index >= size)
    return RequestError(NoSuchUnit,
                        "there is no index " + std::to_string(index) +
                            ": the cursor has " + std::to_string(size) + " " +
                            what + ", from 0");
  return IRUnit(links[index]);
}

/// Finds the unit of a move that starts at the cursor.
static FoundUnit findFrom(const IRUnit &cursor,
                          const MoveCursorArguments &arguments) {
  const std::string &to = arguments.to;
  if (to == "previous" || to == "next")
    return findSibling(cursor, arguments.count, to == "next");
  if (to == "value")
    return findValue(cursor, arguments.name);
  if (to == "keys")
    return findKeys(cursor, arguments.name);
  if (to == "symbol")
    return findSymbol(cursor, arguments.name);
  if (to == "location")
    return findLocation(cursor, arguments.path, arguments.line,
                        arguments.column);
  if (to == "parent")
    return foundOr(parentOf(cursor), "the cursor has no parent");
  if (to == "child")
    return foundOr(childOf(cursor, arguments.index),
                   "the cursor has no child " +
                       std::to_string(arguments.index) +
                       "; children count from 0");
  if (to == "module")
    return foundOr(unitOrNone(rootOf(holderOf(cursor))),
                   "the cursor is not in a module");
  if (to == "function")
    return foundOr(unitOrNone(functionAround(holderOf(cursor))),
                   "the cursor is not in a function");
  if (to == "def" || to == "user")
    return findLink(cursor, arguments.index, to == "user");
  return cursor; // of the action
}

static FoundUnit find(Engine &engine, const MoveCursorArguments &arguments) {
  StopLoop &stops = engine.stops;
  if (!stops.selected && !stops.cursor)
    return noIR(engine);
  if (arguments.to == "context")
    return findInContext(stops.selected, arguments.index);
  if (arguments.to == "id")
    return foundOr(unitOrNone(ids.find(arguments.index)),
                   noOperation(arguments.index).message);
  if (arguments.to == "action")
    stops.resetCursor();
  if (!stops.cursor)
    return noCursor(engine);
  return findFrom(stops.cursor, arguments);
}

/// cursor/move: moves the cursor to another IR unit.
static Answer moveCursor(Engine &engine, const MoveCursorArguments &arguments) {
  FoundUnit found = find(engine, arguments);
  if (auto *error = std::get_if<RequestError>(&found))
    return std::move(*error);
  engine.stops.cursor = std::get<IRUnit>(found);
  return describeCursor(engine);
}
ADBG_IR_REQUEST("cursor/move", moveCursor, MoveCursorArguments(fields))

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// count: the number of operations whose name matches a glob.
static Answer countMatching(Engine &engine, std::optional<Glob> glob,
                            bool inFunction) {
  Operation *op = holderOf(engine.stops.cursor);
  if (!op)
    op = opAround(engine.innermost);
  if (!op)
    return RequestError(NotStopped,
                        "there is no IR to count operations in yet");
  Operation *function = inFunction ? functionAround(op) : nullptr;
  int64_t count = 0;
  (function ? function : moduleOf(engine, op))->walk([&](Operation *inner) {
    count += glob->matches(inner->getName().getStringRef());
  });
  return Object{{"count", count}};
}
ADBG_IR_REQUEST("count", countMatching,
                Glob::create(fields.text("glob"), fields),
                fields.boolean("function", false))

} // namespace adbg
