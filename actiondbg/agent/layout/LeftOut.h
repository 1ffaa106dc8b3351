//===- LeftOut.h - Functions that the tool lacks ----------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"
#include <string>

namespace adbg {

/// Returns which functions for a capability the linker left out of the tool:
/// the end of a sentence; empty if it has them all.
std::string whyLeftOut(StringRef capability);

} // namespace adbg
