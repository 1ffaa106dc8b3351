//===- InterposeIR.h - Operations that are copied ---------------*- C++ -*-===//

#pragma once

#include "interpose/Interpose.h"

namespace adbg {

/// Reports an operation that the tool creates otherwise than by a copy, and
/// returns it: a copy is reported as a whole, after the operations in it.
Operation *noteNew(Operation *op);
/// Reports the copy of an operation, and returns it.
Operation *noteCloned(Operation *from, Operation *to);

/// The operation that is being copied.
inline thread_local Operation *cloning = nullptr;

/// Makes a copy by `clone`; of functions that call each other for it, the one
/// that is called first reports it.
template <typename Clone> Operation *runClone(Operation *from, Clone clone) {
  bool isInner = cloning == from;
  Operation *outer = cloning;
  cloning = from;
  Operation *to = clone();
  cloning = outer;
  return isInner ? to : noteCloned(from, to);
}

} // namespace adbg
