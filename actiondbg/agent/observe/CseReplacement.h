//===- CseReplacement.h - Operations that CSE replaces ----------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

/// Returns an operation equivalent to `erased`, or null. The CSE pass replaces
/// the uses one by one and then erases the unused operation, without a
/// notification that names both.
Operation *findCseReplacement(Operation *erased);

} // namespace adbg
