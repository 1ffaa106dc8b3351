//===- FrozenRewritePatternSet.h - Sets of patterns -------------*- C++ -*-===//

#pragma once

#include "layout/Facts.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {

/// The tool's. A map by operations comes first, which is 24 bytes long in all
/// versions, with a count of its changes in builds with ABI-breaking checks;
/// then all patterns in it. Those for an interface or a trait are not found by
/// an operation here.
class FrozenRewritePatternSet {
public:
  class OfOperations {
  public:
    struct Found {
      SmallVector<const RewritePattern *, 8> second;
      const Found *operator->() const { return this; }
      bool operator==(const Found &other) const {
        return second.empty() && other.second.empty();
      }
    };

    explicit OfOperations(ArrayRef<const RewritePattern *> all) : all(all) {}
    Found find(OperationName name) const {
      Found found;
      for (const RewritePattern *pattern : all)
        if (pattern->getRootKind() == std::optional<OperationName>(name))
          found.second.push_back(pattern);
      return found;
    }
    Found end() const { return {}; }

  private:
    ArrayRef<const RewritePattern *> all;
  };

  OfOperations getOpSpecificNativePatterns() const {
    auto look = [&] {
      for (const RewritePattern *pattern : patterns())
        (void)pattern->getGeneratedOps().size();
    };
    return OfOperations(adbg::facts::frozenPatterns.isSafe(look)
                            ? patterns()
                            : ArrayRef<const RewritePattern *>());
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
