//===- Twins.cpp - What an operation is erased in favour of
//------------------===//

#include "observe/Observer.h"
#include "support/Traits.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace adbg {

static bool isTwin(Operation *op, Operation *other) {
  return other != op && OperationEquivalence::isEquivalentTo(
                            op, other, OperationEquivalence::IgnoreLocations);
}

Operation *Observer::guessTwin(Operation *op) const {
  if (!tellsBy() || !op->getBlock() || !op->getNumResults() ||
      !op->use_empty() || innermost->pass()->getArgument() != "cse" ||
      !ids.of(op))
    return nullptr;
  // Bounded: a value that all use would make this quadratic.
  unsigned left = 256;
  if (op->getNumOperands()) {
    if (Value operand = op->getOperand(0))
      for (Operation *user : operand.getUsers())
        if (!left-- || isTwin(op, user))
          return left + 1 ? user : nullptr;
    return nullptr;
  }
  for (Block *block = op->getBlock(); block;) {
    for (Operation &other : *block)
      if (!left-- || isTwin(op, &other))
        return left + 1 ? &other : nullptr;
    Operation *parent = block->getParentOp();
    block = parent && !isIsolated(parent) ? parent->getBlock() : nullptr;
  }
  return nullptr;
}

} // namespace adbg
