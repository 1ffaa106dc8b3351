//===- Without.h - Capabilities that the user switches off ------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Whether --without names a capability: the tool's functions that it alone
/// needs are neither replaced nor called, and its layouts not read.
bool isSwitchedOff(StringRef capability);

/// Why such a capability is missing: the end of a sentence.
constexpr const char *switchedOff = "--without switched it off";

/// Returns why a capability is missing in a tool whose functions are detoured:
/// the end of a sentence; empty if each function that it needs is there.
std::string whyNotHooked(StringRef capability);

/// Returns why a function of the tool is not replaced, though it could be; null
/// if nothing is against it.
const char *whyNotWanted(StringRef symbol);

} // namespace adbg
