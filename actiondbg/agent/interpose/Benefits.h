//===- Benefits.h - Patterns ordered by changed benefits --------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

class Engine;

/// Orders the patterns of an applicator again, if the engine's alternative
/// changed their benefits since.
void orderAnew(PatternApplicator &applicator, Engine &engine);

} // namespace adbg
