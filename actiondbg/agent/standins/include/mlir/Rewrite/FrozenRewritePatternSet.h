//===- FrozenRewritePatternSet.h - Sets of patterns -------------*- C++ -*-===//

#pragma once

#include "layout/Facts.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {

/// The tool's. A map by operations comes first, which is 24 bytes long in all
/// versions, with a count of its changes in builds with ABI-breaking checks;
/// then all patterns in it. Those for an interface or a trait have no root
/// here.
class FrozenRewritePatternSet {
public:
  /// None where they are not found.
  ArrayRef<const RewritePattern *> getPatterns() const {
    auto look = [&] {
      for (const RewritePattern *pattern : patterns())
        (void)pattern->getGeneratedOps().size();
    };
    return adbg::facts::frozenPatterns.isSafe(look)
               ? patterns()
               : ArrayRef<const RewritePattern *>();
  }

private:
  ArrayRef<const RewritePattern *> patterns() const {
    auto *const *ends = reinterpret_cast<const RewritePattern *const *const *>(
        impl + 24 + 8 * adbg::Layout::offsets.hasChecks);
    return {ends[0], size_t(ends[1] - ends[0])};
  }

  const char *impl;
};

} // namespace mlir
