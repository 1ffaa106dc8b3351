//===- PatternApplicator.h - Applying patterns ------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Action.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {

/// The tool's.
class PatternApplicator {
public:
  PatternApplicator() = delete;

  void applyCostModel(function_ref<PatternBenefit(const Pattern &)> model)
      __attribute__((weak));
};

/// The action that applies a pattern.
class ApplyPatternAction : public tracing::Action {
public:
  static tracing::ActionClass &known() {
    static tracing::ActionClass known("apply-pattern");
    return known;
  }
  static bool classof(const Action *action) {
    return known().contains(*action);
  }

  const Pattern &pattern;
};

} // namespace mlir
