//===- LegalizationTrace.h - What is tried for an operation -----*- C++ -*-===//

#pragma once

#include "engine/Engine.h"

namespace adbg {

using CanApply = function_ref<bool(const Pattern &)>;
using OnFailure = function_ref<void(const Pattern &)>;
using OnSuccess = function_ref<LogicalResult(const Pattern &)>;

/// Tells Legalizations of what is tried for an operation by `run`.
LogicalResult
traced(Engine &engine, Operation *op, CanApply canApply, OnFailure onFailure,
       OnSuccess onSuccess,
       function_ref<LogicalResult(CanApply, OnFailure, OnSuccess)> run);

} // namespace adbg
