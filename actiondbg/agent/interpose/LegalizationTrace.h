//===- LegalizationTrace.h - What is tried for an operation -----*- C++ -*-===//

#pragma once

#include "engine/Engine.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

using CanApply = llvm::function_ref<bool(const mlir::Pattern &)>;
using OnFailure = llvm::function_ref<void(const mlir::Pattern &)>;
using OnSuccess =
    llvm::function_ref<llvm::LogicalResult(const mlir::Pattern &)>;

/// Tells Legalizations of what is tried for an operation by `run`.
llvm::LogicalResult
traced(Engine &engine, mlir::Operation *op, CanApply canApply,
       OnFailure onFailure, OnSuccess onSuccess,
       llvm::function_ref<llvm::LogicalResult(CanApply, OnFailure, OnSuccess)>
           run);

} // namespace adbg
