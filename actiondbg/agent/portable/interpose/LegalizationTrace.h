//===- LegalizationTrace.h - What is tried for an operation -----*- C++ -*-===//
//
// Replaces interpose/LegalizationTrace.h in the portable agent, which does not
// know the targets of conversions.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_LEGALIZATIONTRACE_H
#define ACTIONDBG_PORTABLE_LEGALIZATIONTRACE_H

#include "engine/Engine.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

using CanApply = llvm::function_ref<bool(const mlir::Pattern &)>;
using OnFailure = llvm::function_ref<void(const mlir::Pattern &)>;
using OnSuccess =
    llvm::function_ref<llvm::LogicalResult(const mlir::Pattern &)>;

template <typename Run>
llvm::LogicalResult traced(Engine &, mlir::Operation *, CanApply canApply,
                           OnFailure onFailure, OnSuccess onSuccess, Run run) {
  return run(canApply, onFailure, onSuccess);
}

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_LEGALIZATIONTRACE_H
