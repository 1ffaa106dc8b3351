//===- Verifier.h - The verifier --------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace mlir {

/// Succeeds if the tool has no verifier.
ADBG_STAND_IN inline LogicalResult verify(Operation *op,
                                          bool isRecursive = true) {
  return adbg::tool::verify ? adbg::tool::verify(op, isRecursive) : success();
}

} // namespace mlir
