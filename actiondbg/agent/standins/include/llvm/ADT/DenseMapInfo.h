//===- DenseMapInfo.h - Keys of dense maps ----------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include <cstdint>
#include <type_traits>
#include <utility>

namespace llvm {

/// A hash, two keys that stand for no and for an erased entry, and equality.
template <typename T, typename Enable = void> struct DenseMapInfo;

template <typename T> struct DenseMapInfo<T *> {
  static T *getEmptyKey() {
    return reinterpret_cast<T *>(static_cast<uintptr_t>(-1) << 12);
  }
  static T *getTombstoneKey() {
    return reinterpret_cast<T *>(static_cast<uintptr_t>(-2) << 12);
  }
  static unsigned getHashValue(const void *key) {
    auto address = reinterpret_cast<uintptr_t>(key);
    return unsigned(address >> 4) ^ unsigned(address >> 9);
  }
  static bool isEqual(const void *a, const void *b) { return a == b; }
};

template <typename T>
struct DenseMapInfo<T, std::enable_if_t<std::is_integral_v<T>>> {
  static T getEmptyKey() { return std::numeric_limits<T>::max(); }
  static T getTombstoneKey() {
    return std::is_signed_v<T> ? std::numeric_limits<T>::min()
                               : std::numeric_limits<T>::max() - 1;
  }
  static unsigned getHashValue(T key) {
    uint64_t mixed = static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15;
    return static_cast<unsigned>(mixed >> 32);
  }
  static bool isEqual(T a, T b) { return a == b; }
};

template <> struct DenseMapInfo<StringRef> {
  static StringRef getEmptyKey() { return special(0); }
  static StringRef getTombstoneKey() { return special(1); }
  static unsigned getHashValue(StringRef key) { return xxh3_64bits(key); }
  static bool isEqual(StringRef a, StringRef b) {
    return isSpecial(a) || isSpecial(b) ? a.data() == b.data() : a == b;
  }

private:
  static StringRef special(int which) {
    return {reinterpret_cast<const char *>(~static_cast<uintptr_t>(which)), 0};
  }
  static bool isSpecial(StringRef key) {
    return reinterpret_cast<uintptr_t>(key.data()) >= ~uintptr_t(1);
  }
};

template <typename A, typename B> struct DenseMapInfo<std::pair<A, B>> {
  using Pair = std::pair<A, B>;
  static Pair getEmptyKey() {
    return {DenseMapInfo<A>::getEmptyKey(), DenseMapInfo<B>::getEmptyKey()};
  }
  static Pair getTombstoneKey() {
    return {DenseMapInfo<A>::getTombstoneKey(),
            DenseMapInfo<B>::getTombstoneKey()};
  }
  static unsigned getHashValue(const Pair &key) {
    return DenseMapInfo<A>::getHashValue(key.first) * 0x9e3779b1 +
           DenseMapInfo<B>::getHashValue(key.second);
  }
  static bool isEqual(const Pair &a, const Pair &b) {
    return DenseMapInfo<A>::isEqual(a.first, b.first) &&
           DenseMapInfo<B>::isEqual(a.second, b.second);
  }
};

} // namespace llvm
