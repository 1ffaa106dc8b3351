//===- InterposeIR.h - Operations that are copied ---------------*- C++ -*-===//

#ifndef ACTIONDBG_INTERPOSEIR_H
#define ACTIONDBG_INTERPOSEIR_H

namespace mlir {
class Operation;
} // namespace mlir

namespace adbg {

/// Reports the copy of an operation, and returns it.
mlir::Operation *noteCloned(mlir::Operation *from, mlir::Operation *to);

} // namespace adbg

#endif // ACTIONDBG_INTERPOSEIR_H
