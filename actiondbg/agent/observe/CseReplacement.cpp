//===- CseReplacement.cpp - Operations that CSE replaces ------------------===//

#include "observe/CseReplacement.h"
#include "support/Traits.h"

namespace adbg {

static bool isSame(Operation *op, Operation *other) {
  return other != op && OperationEquivalence::isEquivalentTo(
                            op, other, OperationEquivalence::IgnoreLocations);
}

Operation *findCseReplacement(Operation *op) {
  if (!op->getBlock() || !op->getNumResults() || !op->use_empty())
    return nullptr;
  // Bounded: a value with many uses would make the search quadratic.
  unsigned left = 256;
  if (op->getNumOperands()) {
    if (Value operand = op->getOperand(0))
      for (Operation *user : operand.getUsers())
        if (!left-- || isSame(op, user))
          return left + 1 ? user : nullptr;
    return nullptr;
  }
  for (Block *block = op->getBlock(); block;) {
    for (Operation &other : *block)
      if (!left-- || isSame(op, &other))
        return left + 1 ? &other : nullptr;
    Operation *parent = block->getParentOp();
    block = parent && !isIsolated(parent) ? parent->getBlock() : nullptr;
  }
  return nullptr;
}

} // namespace adbg
