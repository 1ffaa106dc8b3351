//===- IRPath.h - Paths of IR units -----------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Unit.h"
#include "llvm/Support/JSON.h"

namespace adbg {

/// Returns the outermost operation around `op`.
mlir::Operation *rootOf(mlir::Operation *op);

/// Returns the indices that lead from `root` to `unit`: of a region in its
/// operation, of a block in its region, of an operation in its block.
llvm::json::Array pathTo(const mlir::IRUnit &unit, mlir::Operation *root);

} // namespace adbg
