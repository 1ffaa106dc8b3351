//===- Diagnosed.cpp - The operations that diagnostics are about ----------===//

#include "observe/Diagnosed.h"

#include "mlir/IR/Operation.h"

using namespace mlir;

namespace adbg {

Operation *Diagnosed::at(Location location, Operation *root) const {
  Operation *op = last.get(ids);
  if (op && op->getLoc() == location)
    return op;
  if (!root || isa<UnknownLoc>(location))
    return nullptr;
  Operation *found = nullptr;
  bool isOnly = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *each) {
    if (each->getLoc() != location)
      return WalkResult::advance();
    isOnly = !found;
    found = each;
    return isOnly ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isOnly ? found : nullptr;
}

} // namespace adbg
