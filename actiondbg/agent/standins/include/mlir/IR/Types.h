//===- Types.h - Types ------------------------------------------*- C++ -*-===//

#pragma once

#include "layout/Layout.h"
#include "layout/ToolFunctions.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir {

class Type {
public:
  constexpr Type() = default;
  Type(std::nullptr_t) {}

  static Type getFromOpaquePointer(const void *pointer) {
    Type type;
    type.impl = pointer;
    return type;
  }

  explicit operator bool() const { return impl; }
  bool operator!() const { return !impl; }
  bool operator==(Type other) const { return impl == other.impl; }

  const void *getAsOpaquePointer() const { return impl; }

  ADBG_STAND_IN void print(raw_ostream &os) const {
    if (impl && adbg::tool::printType && adbg::Layout::offsets.canPrint)
      adbg::tool::printType(this, os);
    else
      os << "<<NULL TYPE>>";
  }
  ADBG_STAND_IN inline void print(raw_ostream &os, AsmState &state) const;

private:
  const void *impl = nullptr;
};

inline raw_ostream &operator<<(raw_ostream &os, Type type) {
  type.print(os);
  return os;
}

} // namespace mlir
