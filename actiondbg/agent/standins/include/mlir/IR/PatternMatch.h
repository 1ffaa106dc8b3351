//===- PatternMatch.h - Patterns, rewriters and conversions -----*- C++ -*-===//

#pragma once

#include "layout/Facts.h"
#include "mlir/IR/Action.h"
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
    if (rootKind != ofOperation || !isRead())
      return std::nullopt;
    return OperationName::getFromOpaquePointer(rootValue);
  }
  /// Whether the pattern is tried for all operations: it names no operation,
  /// interface or trait.
  bool isOfAnyOperation() const { return rootKind == ofAny && isRead(); }
  PatternBenefit getBenefit() const { return benefit; }
  StringRef getDebugName() const { return isRead() ? debugName : ""; }
  ArrayRef<StringRef> getDebugLabels() const {
    return isRead() ? ArrayRef<StringRef>(debugLabels) : ArrayRef<StringRef>();
  }
  ArrayRef<OperationName> getGeneratedOps() const {
    return {generatedOps.data(), generatedOps.size()};
  }

private:
  static constexpr int ofAny = 0, ofOperation = 1;
  static bool isRead() {
    return LLVM_LIKELY(!adbg::facts::patternOfAction.isRefuted());
  }

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

class ConversionPatternRewriter;

/// Only passed on, on the stack; larger than it is in any version.
class ConversionConfig {
  uint64_t words[32];
};

/// The tool's.
class ConversionTarget {
public:
  enum class LegalizationAction { Legal, Dynamic, Illegal };

  ConversionTarget() = delete;

  /// None if the tool lacks the function.
  ADBG_STAND_IN std::optional<LegalizationAction>
  getOpAction(OperationName name) const {
    auto find = [&]() -> std::optional<int> {
      if (adbg::tool::actionOf)
        return adbg::tool::actionOf(this, name);
      adbg::tool::OptionalLegality found = adbg::tool::legalityOf(this, name);
      return found.isThere ? std::optional(found.number) : std::nullopt;
    };
    if (!adbg::tool::actionOf && !adbg::tool::legalityOf)
      return std::nullopt;
    std::optional<int> found = adbg::facts::legality.safely(find);
    return found ? std::optional(static_cast<LegalizationAction>(*found))
                 : std::nullopt;
  }
  ADBG_STAND_IN bool isIllegal(Operation *op) const {
    auto ask = [&] { return adbg::tool::isIllegal(this, op); };
    return adbg::tool::isIllegal &&
           adbg::facts::isIllegal.safely(ask).value_or(false);
  }
};

/// The tool's.
class TypeConverter {
public:
  TypeConverter() = delete;

  /// Succeeds if the tool lacks the function: then nothing is known.
  ADBG_STAND_IN LogicalResult convertType(Type type,
                                          SmallVectorImpl<Type> &to) const {
    auto *function = adbg::tool::convertType ? adbg::tool::convertType
                                             : adbg::tool::convertTypeOrValue;
    auto convert = [&] { return function(this, type, &to); };
    return function
               ? adbg::facts::convertType.safely(convert).value_or(success())
               : success();
  }
  ADBG_STAND_IN LogicalResult convertType(Value value,
                                          SmallVectorImpl<Type> &to) const {
    auto convert = [&] { return adbg::tool::convertTypeOf(this, value, &to); };
    if (adbg::tool::convertTypeOf)
      if (auto result = adbg::facts::convertValueType.safely(convert))
        return *result;
    return convertType(value.getType(), to);
  }
};

} // namespace mlir
