//===- IRPath.h - Where an IR unit is in its module -------------*- C++ -*-===//

#ifndef ACTIONDBG_IRPATH_H
#define ACTIONDBG_IRPATH_H

#include "mlir/IR/Unit.h"
#include "llvm/Support/JSON.h"

namespace adbg {

/// Returns the operation around `op` that nothing is around.
mlir::Operation *rootOf(mlir::Operation *op);

/// Returns the positions that lead from `root` to `unit`: of a region in its
/// operation, of a block in its region, of an operation in its block.
llvm::json::Array pathTo(const mlir::IRUnit &unit, mlir::Operation *root);

} // namespace adbg

#endif // ACTIONDBG_IRPATH_H
