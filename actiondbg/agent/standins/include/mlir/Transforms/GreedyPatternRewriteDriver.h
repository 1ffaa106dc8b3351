//===- GreedyPatternRewriteDriver.h - The greedy driver ---------*- C++ -*-===//

#pragma once

#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir {

/// Only passed on, on the stack; larger than it is in any version.
class GreedyRewriteConfig {
public:
  int64_t getMaxIterations() const { return maxIterations; }

private:
  uint64_t scopeAndFlags[2];
  int64_t maxIterations;
  uint64_t others[29];
};

} // namespace mlir
