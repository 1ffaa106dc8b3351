//===- IRPath.cpp - Paths of IR units -------------------------------------===//

#include "requests/IRPath.h"
#include "engine/Frame.h"

using namespace mlir;

namespace adbg {

Operation *rootOf(Operation *op) {
  while (op && op->getParentOp())
    op = op->getParentOp();
  return op;
}

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
