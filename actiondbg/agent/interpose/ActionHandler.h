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

/// Gives the engine a reason why a pattern does not match.
void noteReason(Location location, function_ref<void(Diagnostic &)> reasonOf);

/// Gives the checks of patterns an operation whose change a listener is told.
void noteHeard(Operation *op);

/// Notes the reasons that a rewriter's listener is told while this exists. A
/// listener of our own would need every virtual function of the tool's class.
/// Instead the listener that is there gets a copy of its virtual table with
/// another notifyMatchFailure.
class ReasonListener {
public:
  explicit ReasonListener(PatternRewriter &rewriter);
  ~ReasonListener();
  ReasonListener(const ReasonListener &) = delete;

  /// Whether the layout of listeners is as expected: false after the first
  /// rewriter that is not.
  static bool isKnown();

private:
  /// The tool's listener; null if it is left alone.
  void *listener = nullptr;
  const void *table = nullptr;
};

} // namespace adbg
