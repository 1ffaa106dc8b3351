//===- Symbols.h - Names of functions and classes in memory -----*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// An address in a loaded program or library.
struct Place {
  /// The file; empty if the address is in none.
  std::string path;
  /// The difference of addresses in memory and in the file.
  uintptr_t bias = 0;
  /// The loaded ELF header; null if it is not in memory.
  const char *header = nullptr;
  bool isCode = false;

  static Place of(const void *address);
  bool isKnown() const { return !path.empty(); }
  /// The file and the offset in it, `libMLIR.so+0x1234`: the same in each run.
  std::string offsetOf(const void *address) const;
};

/// Returns the mangled symbol of exactly this address; empty if there is none.
/// Reads the tables of the file, dynamic symbols first, and those of a separate
/// debug file. Caches what it reads; safe for concurrent threads.
std::string symbolAt(const void *address);

/// Returns the demangled name of a function or class without parameters and
/// result types: `mlir::cf::BranchOp::canonicalize`. A lambda is called
/// `lambda1`. Empty if `symbol` is no C++ name.
std::string readableName(StringRef symbol);

} // namespace adbg
