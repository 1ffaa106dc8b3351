//===- ActionHandler.h - How actions reach the agent ------------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

/// Has the agent follow what runs in a context: one that was just made, or that
/// is older than the agent in this program.
void observeContext(MLIRContext *context);

/// Follows an action, if it is this thread's turn. `run` runs it as the tool
/// would, with the tool's own handler.
void runAction(unsigned contextNumber, const mlir::tracing::Action &action,
               function_ref<void()> run);
/// The same for an action that upstream has none for.
void runAction(Frame &frame, function_ref<void()> run);

/// Whether the patterns of a set can be read: proved by the first set that has
/// some.
bool arePatternsKnown(const RewritePatternSet &patterns);

} // namespace adbg
