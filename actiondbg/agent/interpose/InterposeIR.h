//===- InterposeIR.h - Operations that are copied ---------------*- C++ -*-===//

#pragma once

#include "interpose/Interpose.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace adbg {

/// Reports an operation that the tool creates otherwise than by a copy, and
/// returns it: a copy is reported as a whole, after the operations in it.
mlir::Operation *noteNew(mlir::Operation *op);
/// Reports the copy of an operation, and returns it.
mlir::Operation *noteCloned(mlir::Operation *from, mlir::Operation *to);

/// The operation that is being copied.
inline thread_local mlir::Operation *cloning = nullptr;

/// Makes a copy by `clone`; of functions that call each other for it, the one
/// that is called first reports it.
template <typename Clone>
mlir::Operation *runClone(mlir::Operation *from, Clone clone) {
  bool isInner = cloning == from;
  mlir::Operation *outer = cloning;
  cloning = from;
  mlir::Operation *to = clone();
  cloning = outer;
  return isInner ? to : noteCloned(from, to);
}

} // namespace adbg
