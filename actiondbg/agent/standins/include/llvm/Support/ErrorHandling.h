//===- ErrorHandling.h - Errors that end the process ------------*- C++ -*-===//

#pragma once

#include "llvm/Support/Compiler.h"

namespace llvm {

/// Writes the reason to standard error without allocating, and aborts.
[[noreturn]] void report_bad_alloc_error(const char *reason,
                                         bool generatesCrash = true);

} // namespace llvm
