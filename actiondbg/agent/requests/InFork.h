//===- InFork.h - Answers computed in a fork --------------------*- C++ -*-===//

#pragma once

#include "requests/Request.h"

namespace adbg {

/// Computes an answer in a fork of the tool, whose memory is freed at once; IR
/// that crashes or hangs its printer does not affect the tool. Printing makes
/// attributes, which would move what the tool allocates later: a replay, in
/// which nothing is printed, would then differ. The answer is computed here if
/// there can be no fork.
Answer<Object> answerInFork(function_ref<Answer<Object>()> compute);

/// Whether a computation comes to its end in a fork of the tool, within ten
/// seconds. Unknown, and so true, if there can be no fork.
bool survivesInFork(function_ref<void()> compute);

} // namespace adbg
