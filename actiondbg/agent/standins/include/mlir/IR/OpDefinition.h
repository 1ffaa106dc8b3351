//===- OpDefinition.h - Traits ----------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_OPDEFINITION_H
#define ACTIONDBG_MLIR_OPDEFINITION_H

#include "mlir/IR/OpFoldResult.h"
#include "mlir/IR/Operation.h"

namespace mlir::OpTrait {

// Only named: see TypeID::get.
template <typename> class ConstantLike;
template <typename> class SymbolTable;
template <typename> class IsIsolatedFromAbove;
template <typename> class IsTerminator;

} // namespace mlir::OpTrait

#endif // ACTIONDBG_MLIR_OPDEFINITION_H
