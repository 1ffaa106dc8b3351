//===- LeftOut.h - Capabilities that the user does without ------*- C++ -*-===//

#ifndef ACTIONDBG_LEFTOUT_H
#define ACTIONDBG_LEFTOUT_H

#include "llvm/ADT/StringRef.h"

namespace adbg {

/// Whether --without names a capability: where a proof was wrong, what it
/// allowed is neither read nor called. Read when the agent is loaded.
bool isLeftOut(llvm::StringRef capability);

/// Why such a capability is missing: the end of a sentence.
constexpr const char *leftOut = "--without leaves it out";

} // namespace adbg

#endif // ACTIONDBG_LEFTOUT_H
