//===- LeftOut.h - Functions that the tool lacks ----------------*- C++ -*-===//

#ifndef ACTIONDBG_PORTABLE_LEFTOUT_H
#define ACTIONDBG_PORTABLE_LEFTOUT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace adbg {

/// Returns which functions for a capability the linker left out of the tool:
/// the end of a sentence; empty if it has them all.
std::string whyLeftOut(llvm::StringRef capability);

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_LEFTOUT_H
