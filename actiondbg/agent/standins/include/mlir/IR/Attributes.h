//===- Attributes.h - Attributes --------------------------------*- C++ -*-===//

#pragma once

#include "layout/Layout.h"
#include "layout/Storage.h"
#include "layout/ToolFunctions.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir {

class Attribute {
public:
  using ImplType = adbg::AttributeStorage;

  constexpr Attribute() = default;
  Attribute(std::nullptr_t) {}
  Attribute(const ImplType *impl) : impl(const_cast<ImplType *>(impl)) {}

  static Attribute getFromOpaquePointer(const void *pointer) {
    return Attribute(static_cast<const ImplType *>(pointer));
  }

  explicit operator bool() const { return impl; }
  bool operator!() const { return !impl; }
  bool operator==(Attribute other) const { return impl == other.impl; }

  const void *getAsOpaquePointer() const { return impl; }
  ImplType *getImpl() const { return impl; }

  ADBG_STAND_IN void print(raw_ostream &os, bool elideType = false) const {
    if (impl && adbg::tool::printAttribute && adbg::Layout::offsets.canPrint)
      adbg::tool::printAttribute(this, os, elideType);
    else
      os << "<<NULL ATTRIBUTE>>";
  }
  ADBG_STAND_IN inline void print(raw_ostream &os, AsmState &state,
                                  bool elideType = false) const;

protected:
  ImplType *impl = nullptr;
};

inline raw_ostream &operator<<(raw_ostream &os, Attribute attribute) {
  attribute.print(os);
  return os;
}

} // namespace mlir
