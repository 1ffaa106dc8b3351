//===- PointerUnion.h - One of several kinds of pointers --------*- C++ -*-===//

#pragma once

#include "support/System.h"
#include "llvm/Support/Casting.h"

namespace llvm {

/// How a type becomes an address, and how many of its low bits are zero.
template <typename T> struct PointerLikeTypeTraits;

template <typename T> struct PointerLikeTypeTraits<T *> {
  static void *getAsVoidPointer(T *pointer) {
    return const_cast<void *>(static_cast<const void *>(pointer));
  }
  static T *getFromVoidPointer(void *pointer) {
    return static_cast<T *>(pointer);
  }
  static constexpr int NumLowBitsAvailable = std::countr_zero(alignof(T));
};

/// Crosses into the tool: an address whose highest spare bits tell the kind.
template <typename... Kinds> class PointerUnion {
  static constexpr int spareBits =
      std::min({PointerLikeTypeTraits<Kinds>::NumLowBitsAvailable...});
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
  void *pointer() const { return reinterpret_cast<void *>(bits & ~kindMask); }

public:
  PointerUnion() = default;
  PointerUnion(std::nullptr_t) {}
  template <typename Kind, typename = std::enable_if_t<isKind<Kind>>>
  PointerUnion(Kind one)
      : bits(reinterpret_cast<uintptr_t>(
                 PointerLikeTypeTraits<Kind>::getAsVoidPointer(one)) |
             indexOf<Kind>() << shift) {}

  bool isNull() const { return !pointer(); }
  explicit operator bool() const { return pointer(); }
  template <typename Kind> bool is() const {
    return (bits & kindMask) >> shift == indexOf<Kind>();
  }
  template <typename Kind> Kind get() const {
    return PointerLikeTypeTraits<Kind>::getFromVoidPointer(pointer());
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
