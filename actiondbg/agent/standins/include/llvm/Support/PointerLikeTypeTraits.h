//===- PointerLikeTypeTraits.h - Types with spare low bits ------*- C++ -*-===//

#pragma once

#include <bit>

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
} // namespace llvm
