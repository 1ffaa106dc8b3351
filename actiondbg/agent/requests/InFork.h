//===- InFork.h - Answers computed in a fork --------------------*- C++ -*-===//

#pragma once

#include "requests/Request.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adbg {

/// Computes an answer in a fork of the tool, whose memory is freed at once; IR
/// that crashes or hangs its printer does not affect the tool. Printing makes
/// attributes, which would move what the tool allocates later: a replay, in
/// which nothing is printed, would then differ. The answer is computed here if
/// there can be no fork.
Answer<llvm::json::Object>
answerInFork(llvm::function_ref<Answer<llvm::json::Object>()> compute);

/// Whether a computation comes to its end in a fork of the tool, within ten
/// seconds. Unknown, and so true, if there can be no fork.
bool survivesInFork(llvm::function_ref<void()> compute);

} // namespace adbg
