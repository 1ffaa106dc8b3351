//===- Without.h - Capabilities that the user switches off ------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Whether --without names a capability: the tool's functions that it alone
/// needs are neither replaced nor called, and its layouts not read.
bool isSwitchedOff(StringRef capability);

/// Why such a capability is missing: the end of a sentence.
constexpr const char *switchedOff = "--without switched it off";

} // namespace adbg
