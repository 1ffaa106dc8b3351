//===- Cursor.cpp - Requests about the cursor -----------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/IRSearch.h"
#include "requests/Request.h"

namespace adbg {

static Object describeCursorHere(const Engine &engine) {
  Operation *op = holderOf(engine.stops.cursor);
  Operation *function = op ? functionAround(op) : nullptr;
  return Object{{"unit", describeUnit(engine.stops.cursor)},
                {"function", function ? Json(symbolName(function)) : nullptr},
                {"path", pathTo(engine.stops.cursor, rootOf(op))}};
}

static Answer<Object> describeCursor(const Engine &engine) {
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
  return RequestError(UnitErased,
                      "the action's IR unit is erased, and no action around it "
                      "has one that is alive; step or continue to the next "
                      "stop");
}

/// cursor/get: the IR unit in view.
static Answer<Object> getCursor(Engine &engine) {
  if (!engine.stops.cursor)
    return noCursor(engine);
  return describeCursor(engine);
}
ADBG_REQUEST("cursor/get", getCursor, readsIR)

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

struct GetLinksArguments {
  std::string direction;
  explicit GetLinksArguments(Fields &fields)
      : direction(fields.text("direction")) {
    if (direction != "defs" && direction != "users")
      fields.fail("there is no direction '" + direction + "'");
  }
};

/// cursor/links: the operations that define the cursor's operands, or those
/// that use its results.
static Answer<Object> getLinks(Engine &engine, GetLinksArguments &arguments) {
  if (!engine.stops.cursor)
    return noCursor(engine);
  return answerInFork([&] {
    Array units;
    for (Operation *op :
         linksOf(engine.stops.cursor, arguments.direction == "users"))
      units.push_back(describeUnit(IRUnit(op)));
    return Object{{"units", std::move(units)}};
  });
}
ADBG_REQUEST("cursor/links", getLinks, readsIR)

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

static IRUnit parentOf(const IRUnit &unit) {
  if (auto *op = dyn_cast_if_present<Operation *>(unit))
    return op->getBlock() ? IRUnit(op->getBlock()) : IRUnit();
  if (auto *block = dyn_cast_if_present<Block *>(unit))
    return block->getParent() ? IRUnit(block->getParent()) : IRUnit();
  Operation *holder = holderOf(unit);
  return holder ? IRUnit(holder) : IRUnit();
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

static Answer<Object> moveTo(Engine &engine, IRUnit unit,
                             std::string otherwise) {
  if (!unit)
    return RequestError(NoSuchUnit, std::move(otherwise));
  engine.stops.cursor = unit;
  return describeCursor(engine);
}

static Answer<Object> moveToSibling(Engine &engine, int64_t count,
                                    bool forward) {
  IRUnit unit = engine.stops.cursor;
  for (int64_t i = 0; i < count; ++i) {
    unit = siblingOf(unit, forward);
    if (!unit) {
      StringRef side = forward ? " after the cursor" : " before the cursor";
      if (i == 0)
        return RequestError(NoSuchUnit, "there is no unit" + side);
      StringRef start = i == 1 ? "there is only 1 unit" : "there are only ";
      std::string count = i == 1 ? "" : std::to_string(i) + " units";
      return RequestError(NoSuchUnit, start + count + side);
    }
  }
  return moveTo(engine, unit, "");
}

static Answer<Object> moveToContext(Engine &engine, int64_t index) {
  const Frame *frame = engine.stops.selected;
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
  return moveTo(engine, erased ? IRUnit(erased->by) : frame->units[index], "");
}

static Answer<Object> moveToId(Engine &engine, int64_t id) {
  return moveTo(engine, unitOrNone(ids.find(id)),
                "there is no operation @" + std::to_string(id) + " now");
}

static Answer<Object> moveToLink(Engine &engine, int64_t index, bool users) {
  std::vector<Operation *> links = linksOf(engine.stops.cursor, users);
  int64_t size = links.size();
  const char *what = users ? "users" : "defining operations";
  if (index >= size)
    return RequestError(NoSuchUnit,
                        "there is no index " + std::to_string(index) +
                            ": the cursor has " + std::to_string(size) + " " +
                            what + ", from 0");
  return moveTo(engine, IRUnit(links[index]), "");
}

static Answer<Object> moveFound(Engine &engine, FoundUnit found) {
  if (auto *error = std::get_if<RequestError>(&found))
    return std::move(*error);
  return moveTo(engine, std::get<IRUnit>(found), "");
}

/// Moves that start at the cursor.
static Answer<Object> moveAround(Engine &engine,
                                 const MoveCursorArguments &arguments) {
  const std::string &to = arguments.to;
  if (to == "previous" || to == "next")
    return moveToSibling(engine, arguments.count, to == "next");
  if (to == "value")
    return moveFound(engine, findValue(engine.stops.cursor, arguments.name));
  if (to == "keys")
    return moveFound(engine, findKeys(engine.stops.cursor, arguments.name));
  if (to == "symbol")
    return moveFound(engine, findSymbol(engine.stops.cursor, arguments.name));
  if (to == "location")
    return moveFound(engine, findLocation(engine.stops.cursor, arguments.path,
                                          arguments.line, arguments.column));
  if (to == "parent")
    return moveTo(engine, parentOf(engine.stops.cursor),
                  "the cursor has no parent");
  if (to == "child")
    return moveTo(engine, childOf(engine.stops.cursor, arguments.index),
                  "the cursor has no child " + std::to_string(arguments.index) +
                      "; children count from 0");
  Operation *op = holderOf(engine.stops.cursor);
  if (to == "module")
    return moveTo(engine, unitOrNone(rootOf(op)),
                  "the cursor is not in a module");
  if (to == "function")
    return moveTo(engine, unitOrNone(functionAround(op)),
                  "the cursor is not in a function");
  return moveToLink(engine, arguments.index, to == "user");
}

/// cursor/move: moves the cursor to another IR unit.
static Answer<Object> moveCursor(Engine &engine,
                                 MoveCursorArguments &arguments) {
  if (!engine.stops.selected && !engine.stops.cursor)
    return noIR(engine);
  if (arguments.to == "context")
    return moveToContext(engine, arguments.index);
  if (arguments.to == "id")
    return moveToId(engine, arguments.index);
  if (arguments.to == "action")
    engine.stops.resetCursor();
  if (!engine.stops.cursor)
    return noCursor(engine);
  if (arguments.to == "action")
    return describeCursor(engine);
  return moveAround(engine, arguments);
}
ADBG_REQUEST("cursor/move", moveCursor, readsIR)

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

struct CountOperationsArguments {
  std::optional<Glob> glob;
  bool function;
  explicit CountOperationsArguments(Fields &fields) {
    std::string text = fields.text("glob"), error;
    function = fields.boolean("function", false);
    glob = Glob::create(text, error);
    if (!glob)
      fields.fail(error);
  }
};

/// count: the number of operations whose name matches a glob.
static Answer<Object> countMatching(Engine &engine,
                                    CountOperationsArguments &arguments) {
  Operation *op = holderOf(engine.stops.cursor);
  if (!op)
    op = opAround(engine.innermost);
  if (!op)
    return RequestError(NotStopped,
                        "there is no IR to count operations in yet");
  Operation *function = arguments.function ? functionAround(op) : nullptr;
  int64_t count = 0;
  (function ? function : rootOf(op))->walk([&](Operation *inner) {
    count += arguments.glob->matches(inner->getName().getStringRef());
  });
  return Object{{"count", count}};
}
ADBG_REQUEST("count", countMatching, readsIR)

} // namespace adbg
