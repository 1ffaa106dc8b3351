//===- OpFoldResult.h - The result of a fold --------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/PointerUnion.h"

namespace llvm {
template <> struct PointerLikeTypeTraits<mlir::Value> {
  static void *getAsVoidPointer(mlir::Value value) { return value.getImpl(); }
  static mlir::Value getFromVoidPointer(const void *pointer) {
    return mlir::Value::getFromOpaquePointer(pointer);
  }
  static constexpr int NumLowBitsAvailable = 3;
};
template <> struct PointerLikeTypeTraits<mlir::Attribute> {
  static void *getAsVoidPointer(mlir::Attribute attribute) {
    return attribute.getImpl();
  }
  static mlir::Attribute getFromVoidPointer(const void *pointer) {
    return mlir::Attribute::getFromOpaquePointer(pointer);
  }
  static constexpr int NumLowBitsAvailable = 3;
};
} // namespace llvm

namespace mlir {

class OpFoldResult : public llvm::PointerUnion<Attribute, Value> {
public:
  using PointerUnion::PointerUnion;
};
static_assert(sizeof(OpFoldResult) == sizeof(void *));

} // namespace mlir
