//===- PatternMatch.h - Patterns and rewriters ------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace mlir {

class PatternRewriter;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

class PatternBenefit {
public:
  PatternBenefit() = default;
  PatternBenefit(unsigned benefit)
      : representation(static_cast<unsigned short>(benefit)) {}

  bool isImpossibleToMatch() const { return representation == impossible; }
  unsigned short getBenefit() const { return representation; }

private:
  static constexpr unsigned short impossible = 65535;
  unsigned short representation = impossible;
};

class Pattern {
public:
  std::optional<OperationName> getRootKind() const {
    if (rootKind != ofOperation || adbg::facts::patternOfAction.isRefuted())
      return std::nullopt;
    return OperationName::getFromOpaquePointer(rootValue);
  }
  /// Whether it is tried for all operations, not for those of a name, an
  /// interface or a trait.
  bool isOfAnyOperation() const {
    return rootKind == ofAny && !adbg::facts::patternOfAction.isRefuted();
  }
  PatternBenefit getBenefit() const { return benefit; }
  StringRef getDebugName() const {
    return LLVM_LIKELY(!adbg::facts::patternOfAction.isRefuted()) ? debugName
                                                                  : "";
  }
  ArrayRef<StringRef> getDebugLabels() const {
    if (LLVM_UNLIKELY(adbg::facts::patternOfAction.isRefuted()))
      return {};
    return {debugLabels.data(), debugLabels.size()};
  }
  ArrayRef<OperationName> getGeneratedOps() const {
    return {generatedOps.data(), generatedOps.size()};
  }

private:
  static constexpr int ofAny = 0, ofOperation = 1;

  const void *rootValue;
  int rootKind;
  PatternBenefit benefit;
  uintptr_t contextAndFlag;
  SmallVector<OperationName, 2> generatedOps;
  StringRef debugName;
  SmallVector<StringRef, 0> debugLabels;
};
static_assert(sizeof(Pattern) == 88);

class RewritePattern : public Pattern {
public:
  RewritePattern() = delete;
  virtual ~RewritePattern();
  virtual LogicalResult matchAndRewrite(Operation *op,
                                        PatternRewriter &rewriter) const = 0;
};
static_assert(sizeof(RewritePattern) == 96);

/// The tool's: the native patterns come behind the context.
class RewritePatternSet {
public:
  RewritePatternSet() = delete;

  ArrayRef<std::unique_ptr<RewritePattern>> getNativePatterns() const {
    return {ends[0], size_t(ends[1] - ends[0])};
  }

private:
  MLIRContext *context;
  // A std::vector: its begin and its end.
  const std::unique_ptr<RewritePattern> *ends[2];
};

//===----------------------------------------------------------------------===//
// Rewriters
//===----------------------------------------------------------------------===//

/// The tool's: see ReasonListener.
class RewriterBase {
public:
  RewriterBase() = delete;
};

class PatternRewriter : public RewriterBase {};

} // namespace mlir
