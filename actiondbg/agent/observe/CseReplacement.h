//===- CseReplacement.h - What CSE replaces an operation by -----*- C++ -*-===//

#ifndef ACTIONDBG_CSEREPLACEMENT_H
#define ACTIONDBG_CSEREPLACEMENT_H

#include "mlir/IR/Operation.h"

namespace adbg {

/// The CSE pass replaces each use by itself, and then erases the operation that
/// has none: returns an operation that is the same as this one, or null.
mlir::Operation *findCseReplacement(mlir::Operation *erased);

} // namespace adbg

#endif // ACTIONDBG_CSEREPLACEMENT_H
