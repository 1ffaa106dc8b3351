//===- Unit.h - Parts of IR, and the results of folds -----------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace llvm {

/// Crosses into the tool: an address whose highest spare bits tell the kind.
/// The kinds are pointers, and handles that hold one; all have three spare
/// bits.
template <typename... Kinds> class PointerUnion {
  static constexpr int spareBits = 3;
  static constexpr int kindBits = std::bit_width(sizeof...(Kinds) - 1);
  static constexpr int shift = spareBits - kindBits;
  static constexpr uintptr_t kindMask = ((uintptr_t(1) << kindBits) - 1)
                                        << shift;
  static_assert(kindBits <= spareBits, "the kinds have too few spare bits");

  uintptr_t bits = 0;

  template <typename Kind> static constexpr uintptr_t indexOf() {
    uintptr_t index = 0;
    bool isFound = false;
    ((isFound = isFound || std::is_same_v<Kind, Kinds>, index += !isFound),
     ...);
    return index;
  }
  template <typename Kind>
  static constexpr bool isKind = (std::is_same_v<Kind, Kinds> || ...);
  template <typename Kind> static uintptr_t addressOf(Kind one) {
    if constexpr (std::is_pointer_v<Kind>)
      return reinterpret_cast<uintptr_t>(one);
    else
      return reinterpret_cast<uintptr_t>(one.getImpl());
  }
  void *pointer() const { return reinterpret_cast<void *>(bits & ~kindMask); }

public:
  PointerUnion() = default;
  PointerUnion(std::nullptr_t) {}
  template <typename Kind, typename = std::enable_if_t<isKind<Kind>>>
  PointerUnion(Kind one) : bits(addressOf(one) | indexOf<Kind>() << shift) {}

  bool isNull() const { return !pointer(); }
  explicit operator bool() const { return pointer(); }
  template <typename Kind> bool is() const {
    return (bits & kindMask) >> shift == indexOf<Kind>();
  }
  template <typename Kind> Kind get() const {
    if constexpr (std::is_pointer_v<Kind>)
      return static_cast<Kind>(pointer());
    else
      return Kind::getFromOpaquePointer(pointer());
  }
  void *getOpaqueValue() const { return reinterpret_cast<void *>(bits); }

  friend bool operator==(PointerUnion a, PointerUnion b) {
    return a.bits == b.bits;
  }
  friend bool operator<(PointerUnion a, PointerUnion b) {
    return a.bits < b.bits;
  }
};

} // namespace llvm

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
