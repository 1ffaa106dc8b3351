//===- BuiltinOps.h - Casts between types -----------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace mlir {

/// An operation of this class, told by its name.
class UnrealizedConversionCastOp {
public:
  UnrealizedConversionCastOp() = default;
  explicit UnrealizedConversionCastOp(Operation *op) : op(op) {}

  static bool classof(Operation *op) {
    return op->getName().getStringRef() == "builtin.unrealized_conversion_cast";
  }

  explicit operator bool() const { return op; }
  operator Operation *() const { return op; }
  Operation *operator->() const { return op; }

  Location getLoc() { return op->getLoc(); }
  TypeRange getOperandTypes() { return op->getOperandTypes(); }
  TypeRange getResultTypes() { return op->getResultTypes(); }

private:
  Operation *op = nullptr;
};

} // namespace mlir
