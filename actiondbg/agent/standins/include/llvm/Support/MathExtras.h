//===- MathExtras.h - Powers of two -----------------------------*- C++ -*-===//

#pragma once

#include <cstdint>

namespace llvm {

constexpr bool isPowerOf2_64(uint64_t value) {
  return value && !(value & (value - 1));
}

constexpr unsigned Log2_64(uint64_t value) {
  return 63 - __builtin_clzll(value);
}
constexpr unsigned Log2_64_Ceil(uint64_t value) {
  return value > 1 ? 64 - __builtin_clzll(value - 1) : 0;
}
constexpr uint64_t NextPowerOf2(uint64_t value) {
  return value ? uint64_t(2) << Log2_64(value) : 1;
}
constexpr uint64_t alignTo(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}
constexpr uint64_t alignDown(uint64_t value, uint64_t align) {
  return value / align * align;
}

} // namespace llvm
