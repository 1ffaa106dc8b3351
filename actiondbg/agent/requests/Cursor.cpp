//===- Cursor.cpp - Moving through the IR
//-----------------------------------===//

#include "engine/Describe.h"
#include "requests/Requests.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::StringRef;
using llvm::json::Object;
using Json = llvm::json::Value;

namespace adbg {

Operation *rootOf(Operation *op) {
  while (op && op->getParentOp())
    op = op->getParentOp();
  return op;
}

/// An operation may know a block that does not hold it, in the middle of a
/// rewrite: then it has no position, and to look for it would never end.
template <typename List, typename Node>
static int64_t positionIn(List &list, Node *node) {
  int64_t position = 0;
  for (Node &one : list) {
    if (&one == node)
      return position;
    ++position;
  }
  return -1;
}

static int64_t positionOf(Operation *op) {
  return positionIn(*op->getBlock(), op);
}

static int64_t positionOf(Block *block) {
  return positionIn(*block->getParent(), block);
}

llvm::json::Array pathTo(const IRUnit &unit, Operation *root) {
  llvm::SmallVector<int64_t> path;
  auto *op = llvm::dyn_cast_if_present<Operation *>(unit);
  auto *block = llvm::dyn_cast_if_present<Block *>(unit);
  auto *region = llvm::dyn_cast_if_present<Region *>(unit);
  if (!op && !block && !region)
    op = holderOf(unit);
  while (op != root || block || region) {
    if (block) {
      if (!block->getParent())
        break;
      path.push_back(positionOf(block));
      region = std::exchange(block, nullptr)->getParent();
    } else if (region) {
      path.push_back(region->getRegionNumber());
      op = std::exchange(region, nullptr)->getParentOp();
    } else if (op && op->getBlock()) {
      path.push_back(positionOf(op));
      block = std::exchange(op, nullptr)->getBlock();
    } else {
      break;
    }
  }
  return llvm::json::Array(llvm::reverse(path));
}

static Object describeCursor(Engine &engine) {
  Operation *op = holderOf(engine.cursor);
  Operation *function = op ? functionAround(op) : nullptr;
  return Object{
      {"unit", describeUnit(engine.cursor)},
      {"function", function ? Json(llvm::json::fixUTF8(symbolName(function)))
                            : Json(nullptr)},
      {"path", pathTo(engine.cursor, rootOf(op))}};
}

static Reply noCursor(Engine &engine) {
  if (!engine.selected)
    return Reply(NotStopped, "no action has been dispatched yet");
  return Reply(UnitErased, "the action's IR unit is erased, and no action "
                           "around it has one that is alive; step or continue "
                           "to the next stop");
}

Reply getContext(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  if (!engine.selected)
    return noCursor(engine);
  return Object{{"units", describeUnits(*engine.selected)}};
}

Reply getCursor(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  if (!engine.cursor)
    return noCursor(engine);
  return describeCursor(engine);
}

//===----------------------------------------------------------------------===//
// Links between operations
//===----------------------------------------------------------------------===//

static llvm::SetVector<Operation *> linksOf(const IRUnit &unit, bool users) {
  llvm::SetVector<Operation *> links;
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(unit)) {
    if (users)
      for (Operation *user : op->getUsers())
        links.insert(user);
    else
      for (mlir::Value operand : op->getOperands())
        if (Operation *def = operand ? operand.getDefiningOp() : nullptr)
          links.insert(def);
  } else if (auto *block = llvm::dyn_cast_if_present<Block *>(unit)) {
    for (BlockArgument argument : block->getArguments())
      for (Operation *user : argument.getUsers())
        if (users)
          links.insert(user);
  }
  return links;
}

Reply getLinks(Engine &engine, Fields &fields) {
  std::string direction = fields.text("direction");
  if (direction != "defs" && direction != "users")
    fields.fail("there is no direction '" + direction + "'");
  if (!fields.done())
    return wrongParams(fields);
  if (!engine.cursor)
    return noCursor(engine);
  llvm::json::Array units;
  for (Operation *op : linksOf(engine.cursor, direction == "users"))
    units.push_back(describeUnit(IRUnit(op)));
  return Object{{"units", std::move(units)}};
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static Reply moveTo(Engine &engine, IRUnit unit, const llvm::Twine &otherwise) {
  if (!unit)
    return Reply(NoSuchUnit, otherwise);
  engine.cursor = unit;
  return describeCursor(engine);
}

template <typename Range> static IRUnit nth(Range &&range, int64_t index) {
  for (auto &element : range)
    if (index-- == 0)
      return IRUnit(&element);
  return IRUnit();
}

static IRUnit parentOf(const IRUnit &unit) {
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(unit))
    return op->getBlock() ? IRUnit(op->getBlock()) : IRUnit();
  if (auto *block = llvm::dyn_cast_if_present<Block *>(unit))
    return block->getParent() ? IRUnit(block->getParent()) : IRUnit();
  Operation *holder = holderOf(unit);
  return holder ? IRUnit(holder) : IRUnit();
}

static IRUnit childOf(const IRUnit &unit, int64_t index) {
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(unit))
    return nth(op->getRegions(), index);
  if (auto *region = llvm::dyn_cast_if_present<Region *>(unit))
    return nth(*region, index);
  if (auto *block = llvm::dyn_cast_if_present<Block *>(unit))
    return nth(*block, index);
  return IRUnit();
}

template <typename T> static IRUnit unitOrNone(T *pointer) {
  return pointer ? IRUnit(pointer) : IRUnit();
}

static IRUnit besideOf(const IRUnit &unit, bool forward) {
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(unit)) {
    if (!op->getBlock())
      return IRUnit();
    return unitOrNone(forward ? op->getNextNode() : op->getPrevNode());
  }
  if (auto *block = llvm::dyn_cast_if_present<Block *>(unit)) {
    if (!block->getParent())
      return IRUnit();
    return unitOrNone(forward ? block->getNextNode() : block->getPrevNode());
  }
  auto *region = llvm::dyn_cast_if_present<Region *>(unit);
  Operation *parent = region ? region->getParentOp() : nullptr;
  if (!parent)
    return IRUnit();
  int64_t index = int64_t(region->getRegionNumber()) + (forward ? 1 : -1);
  return index < 0 ? IRUnit() : nth(parent->getRegions(), index);
}

static Reply moveBeside(Engine &engine, int64_t count, bool forward) {
  IRUnit unit = engine.cursor;
  for (int64_t i = 0; i < count; ++i) {
    unit = besideOf(unit, forward);
    if (!unit)
      return Reply(NoSuchUnit, llvm::Twine("there are only ") + llvm::Twine(i) +
                                   " units " + (forward ? "after" : "before") +
                                   " the cursor");
  }
  return moveTo(engine, unit, "");
}

static Reply moveToContext(Engine &engine, int64_t index) {
  const Frame *frame = engine.selected;
  int64_t size = frame->units.size();
  if (index >= size)
    return Reply(NoSuchUnit, "there is no IR unit " + llvm::Twine(index) +
                                 " in the context: it has " +
                                 llvm::Twine(size) + ", from 0");
  const Gone *gone = frame->goneUnit(index);
  if (gone && !gone->by)
    return Reply(UnitErased, "IR unit " + llvm::Twine(index) + " (" +
                                 gone->name.getStringRef() + ") is erased");
  return moveTo(engine, gone ? IRUnit(gone->by) : frame->units[index], "");
}

static Reply moveToLink(Engine &engine, int64_t index, bool users) {
  llvm::SetVector<Operation *> links = linksOf(engine.cursor, users);
  int64_t size = links.size();
  const char *what = users ? "users" : "defining operations";
  if (index >= size)
    return Reply(NoSuchUnit, "there is no " + llvm::Twine(index) + " in the " +
                                 llvm::Twine(size) + " " + what +
                                 " of the cursor, which count from 0");
  return moveTo(engine, IRUnit(links[index]), "");
}

/// Moves that need no more than where the cursor is.
static Reply moveAround(Engine &engine, StringRef to, int64_t index) {
  Operation *op = holderOf(engine.cursor);
  if (to == "parent")
    return moveTo(engine, parentOf(engine.cursor),
                  "nothing is around the cursor");
  if (to == "child")
    return moveTo(engine, childOf(engine.cursor, index),
                  "the cursor has no child " + llvm::Twine(index) +
                      "; children count from 0");
  if (to == "module")
    return moveTo(engine, unitOrNone(rootOf(op)), "nothing is around it");
  if (to == "function")
    return moveTo(engine, unitOrNone(functionAround(op)),
                  "the cursor is not in a function");
  return moveToLink(engine, index, to == "user");
}

Reply moveCursor(Engine &engine, Fields &fields) {
  std::string to = fields.text("to");
  int64_t index = fields.integerOr("index", 0, 0);
  int64_t count = fields.integerOr("count", 1, 1);
  std::string name = fields.textOr("name", "");
  std::string path = fields.textOr("path", "");
  int64_t line = fields.integerOr("line", 1, 0);
  int64_t column = fields.integerOr("column", 1, 0);
  static const std::set<std::string> moves = {
      "context",  "parent",   "child",  "previous", "next",
      "function", "module",   "def",    "user",     "value",
      "symbol",   "location", "action", "id"};
  if (!moves.count(to))
    fields.fail("there is no move to '" + to + "'");
  if (!fields.done())
    return wrongParams(fields);
  if (!engine.selected)
    return noCursor(engine);
  if (to == "context")
    return moveToContext(engine, index);
  if (to == "id") {
    Operation *op = engine.observer.ids.find(index);
    return moveTo(engine, op ? IRUnit(op) : IRUnit(),
                  "there is no operation @" + llvm::Twine(index) + " now");
  }
  if (to == "action")
    engine.resetCursor();
  if (!engine.cursor)
    return noCursor(engine);
  if (to == "action")
    return describeCursor(engine);
  if (to == "previous" || to == "next")
    return moveBeside(engine, count, to == "next");
  if (to == "value" || to == "symbol" || to == "location") {
    Reply found = to == "value"    ? findValue(engine, name)
                  : to == "symbol" ? findSymbol(engine, name)
                                   : findLocation(engine, path, line, column);
    if (found.code)
      return found;
    return describeCursor(engine);
  }
  return moveAround(engine, to, index);
}

} // namespace adbg
