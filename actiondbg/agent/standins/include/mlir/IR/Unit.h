//===- Unit.h - Parts of IR, and the results of folds -----------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/PointerUnion.h"

namespace mlir {

class IRUnit
    : public llvm::PointerUnion<Operation *, Region *, Block *, Value> {
public:
  using PointerUnion::PointerUnion;

  void print(raw_ostream &os, const OpPrintingFlags &flags) const;
};
static_assert(sizeof(IRUnit) == sizeof(void *));

/// The result of a fold.
class OpFoldResult : public llvm::PointerUnion<Attribute, Value> {
public:
  using PointerUnion::PointerUnion;
};
static_assert(sizeof(OpFoldResult) == sizeof(void *));

} // namespace mlir
