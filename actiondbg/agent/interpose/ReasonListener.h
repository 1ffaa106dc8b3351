//===- ReasonListener.h - Reasons of failed matches -------------*- C++ -*-===//
//
// A listener of our own would need every virtual function of the tool's class.
// Instead the listener that is there gets a copy of its virtual table with
// another notifyMatchFailure.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/PatternMatch.h"

namespace adbg {

/// Gives the engine a reason why a pattern does not match.
void noteReason(Location location, function_ref<void(Diagnostic &)> reasonOf);

/// Gives the checks of patterns an operation whose change a listener is told.
void noteHeard(Operation *op);

/// Notes the reasons that a rewriter's listener is told while this exists.
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
