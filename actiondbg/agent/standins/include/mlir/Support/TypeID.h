//===- TypeID.h - Identities of classes -------------------------*- C++ -*-===//

#pragma once

#include "layout/ToolFunctions.h"
#include "mlir/Support/LLVM.h"

namespace mlir {

class TypeID {
public:
  TypeID() = default;

  static TypeID getFromOpaquePointer(const void *pointer) {
    TypeID id;
    id.storage = pointer;
    return id;
  }

  bool operator==(TypeID other) const { return storage == other.storage; }

private:
  const void *storage = nullptr;
};

namespace detail {

struct FallbackTypeIDResolver {
  /// Returns no ID if the tool lacks the function.
  ADBG_STAND_IN static TypeID registerImplicitTypeID(StringRef name) {
    if (!adbg::tool::registerTypeID)
      return TypeID();
    return TypeID::getFromOpaquePointer(adbg::tool::registerTypeID(name));
  }
  /// Returns the ID of `void`.
  static TypeID ofVoid() {
    return TypeID::getFromOpaquePointer(&adbg::tool::voidID);
  }
};

} // namespace detail
} // namespace mlir
