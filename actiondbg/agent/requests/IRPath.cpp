//===- IRPath.cpp - Where an IR unit is in its module ---------------------===//

#include "requests/IRPath.h"
#include "engine/Frame.h"

using namespace mlir;

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

} // namespace adbg
