//===- HookedCapabilities.h - What hooks and references allow ---*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Returns why a capability is missing in a tool whose functions are detoured:
/// the end of a sentence; empty if each function that it needs is there.
std::string whyNotHooked(StringRef capability);

/// Returns why a function of the tool is not replaced, though it could be; null
/// if nothing is against it.
const char *whyNotWanted(StringRef symbol);

} // namespace adbg
