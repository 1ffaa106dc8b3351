//===- Relocator.h - The first instructions of a function -------*- C++ -*-===//
//
// A detour overwrites the first instructions of a function with a jump. A copy
// of them that does the same elsewhere, followed by a jump to the rest, is the
// original function to who calls it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/System.h"

namespace adbg::detour {

/// The function to copy instructions of.
struct FunctionCode {
  /// Where the bytes can be read.
  const uint8_t *bytes;
  /// The number of bytes that can be read, at most those of the function.
  size_t size;
  /// Where the bytes are when they run.
  uint64_t address;
};

/// A copy of a function's first instructions.
struct Relocated {
  /// Why there is none: a text that lives forever; null if there is one.
  const char *refusal = nullptr;
  /// The number of the function's bytes that may be overwritten.
  size_t taken = 0;
  /// The number of bytes of the copy.
  size_t size = 0;
  /// Whether control may leave the copy at its end, to the rest.
  bool continues = true;
};

/// The most bytes of a copy.
constexpr size_t mostRelocated = 128;

/// Copies the first instructions of an x86-64 function, at least `needed`
/// bytes, to `copy`, which has room for mostRelocated bytes and will run at
/// `address`.
Relocated relocateX86(const FunctionCode &function, size_t needed,
                      uint8_t *copy, uint64_t address);

/// The same for aarch64. A literal that is loaded is copied behind the code.
Relocated relocateAArch64(const FunctionCode &function, size_t needed,
                          uint8_t *copy, uint64_t address);

} // namespace adbg::detour
