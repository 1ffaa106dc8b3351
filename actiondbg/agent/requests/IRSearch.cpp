#include "requests/IRSearch.h"
#include "engine/Frame.h"
#include "print/ValueKeys.h"
#include "support/Locations.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

/// Whether values defined in `region` are visible at the cursor.
static bool isVisible(Region *region, const IRUnit &cursor) {
  if (auto *own = dyn_cast_if_present<Region *>(cursor))
    return region->isAncestor(own);
  if (auto *block = dyn_cast_if_present<Block *>(cursor))
    return block->getParent() && region->isAncestor(block->getParent());
  Operation *op = holderOf(cursor);
  return op && op->getParentRegion() &&
         region->isAncestor(op->getParentRegion());
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

FoundUnit findValue(const IRUnit &cursor, StringRef name) {
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

FoundUnit findKeys(const IRUnit &cursor, StringRef keys) {
  Operation *root = rootOf(holderOf(cursor));
  IRUnit visible;
  std::vector<IRUnit> found;
  std::vector<StringRef> all;
  keys.split(all, ' ');
  for (StringRef key : all) {
    IRUnit unit = findKey(root, key);
    if (!unit)
      continue;
    auto *block = dyn_cast_if_present<Block *>(unit);
    Region *region =
        block ? block->getParent() : holderOf(unit)->getParentRegion();
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

FoundUnit findSymbol(const IRUnit &cursor, StringRef name) {
  Operation *found = nullptr;
  rootOf(holderOf(cursor))->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (symbolName(op) != name)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
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

FoundUnit findLocation(const IRUnit &cursor, StringRef path, int64_t line,
                       int64_t column) {
  Operation *found = nullptr;
  rootOf(holderOf(cursor))->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isAt(op->getLoc(), path, line, column))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  if (!found)
    return RequestError(NoSuchUnit,
                        "no operation has the location " + path + ":" +
                            std::to_string(line) +
                            (column ? ":" + std::to_string(column) : ""));
  return IRUnit(found);
}

//===----------------------------------------------------------------------===//
// Paths of IR units
//===----------------------------------------------------------------------===//

/// Returns the index of a node in a list. In the middle of a rewrite an
/// operation's parent block may not contain it: then it has no index, and a
/// search from the operation would never end.
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

Array pathTo(const IRUnit &unit, Operation *root) {
  std::vector<int64_t> path;
  auto *op = dyn_cast_if_present<Operation *>(unit);
  auto *block = dyn_cast_if_present<Block *>(unit);
  auto *region = dyn_cast_if_present<Region *>(unit);
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
  std::ranges::reverse(path);
  return Array(path);
}

} // namespace adbg
