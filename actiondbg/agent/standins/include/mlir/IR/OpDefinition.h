//===- OpDefinition.h - Traits ----------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/OpFoldResult.h"
#include "mlir/IR/Operation.h"

namespace mlir::OpTrait {

// Only named: see TypeID::get.
template <typename> class ConstantLike;
template <typename> class SymbolTable;
template <typename> class IsIsolatedFromAbove;
template <typename> class IsTerminator;

} // namespace mlir::OpTrait
