//===- HookedCapabilities.h - What hooks and references allow ---*- C++ -*-===//

#ifndef ACTIONDBG_HOOKEDCAPABILITIES_H
#define ACTIONDBG_HOOKEDCAPABILITIES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace adbg {

/// Returns why a capability is missing in a tool whose functions are detoured:
/// the end of a sentence; empty if each function that it needs is there.
std::string whyNotHooked(llvm::StringRef capability);

} // namespace adbg

#endif // ACTIONDBG_HOOKEDCAPABILITIES_H
