//===- DialectConversion.h - Conversions ------------------------*- C++ -*-===//

#pragma once

#include "layout/Facts.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {

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
    auto find = [&]() -> adbg::tool::OptionalNumber {
      const void *key = name.getAsOpaquePointer();
      if (adbg::tool::actionOf)
        return adbg::tool::actionOf(this, key);
      adbg::tool::OptionalLegality legality = adbg::tool::legalityOf(this, key);
      return {legality.number, legality.isThere};
    };
    if ((!adbg::tool::actionOf && !adbg::tool::legalityOf) ||
        !adbg::facts::legality.isSafe([&] { (void)find(); }))
      return std::nullopt;
    adbg::tool::OptionalNumber found = find();
    if (!found.isThere)
      return std::nullopt;
    return static_cast<LegalizationAction>(found.number);
  }
  ADBG_STAND_IN bool isIllegal(Operation *op) const {
    return adbg::tool::isIllegal && adbg::facts::isIllegal.isSafe([&] {
      adbg::tool::isIllegal(this, op);
    }) && adbg::tool::isIllegal(this, op);
  }
};

/// The tool's.
class TypeConverter {
public:
  TypeConverter() = delete;

  /// Succeeds if the tool lacks the function: then nothing is known.
  ADBG_STAND_IN LogicalResult convertType(Type type,
                                          SmallVectorImpl<Type> &to) const {
    auto convert = [&] {
      return adbg::tool::convertType(this, type.getAsOpaquePointer(), &to);
    };
    if (!adbg::tool::convertType ||
        !adbg::facts::convertType.isSafe([&] { (void)convert(); }))
      return success();
    return convert();
  }
  ADBG_STAND_IN LogicalResult convertType(Value value,
                                          SmallVectorImpl<Type> &to) const {
    auto convert = [&] {
      return adbg::tool::convertTypeOf(this, value.getAsOpaquePointer(), &to);
    };
    if (!adbg::tool::convertTypeOf ||
        !adbg::facts::convertValueType.isSafe([&] { (void)convert(); }))
      return convertType(value.getType(), to);
    return convert();
  }
};

} // namespace mlir
