//===- InterposeConversions.cpp - Dialect conversions ---------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "interpose/LegalizationTrace.h"

#include "mlir/Transforms/DialectConversion.h"

using namespace adbg;

LogicalResult
adbg::traced(Engine &engine, Operation *op, CanApply canApply,
             OnFailure onFailure, OnSuccess onSuccess,
             function_ref<LogicalResult(CanApply, OnFailure, OnSuccess)> run) {
  Legalizations &legalizations = engine.legalizations;
  legalizations.beginOperation(op);
  LogicalResult result = run(
      [&](const Pattern &pattern) {
        bool can = !canApply || canApply(pattern);
        if (can && legalizations.typeReasons.areAsked())
          legalizations.listenToTypes(op, pattern);
        legalizations.beginPattern(pattern, engine.position.ordinal + 1, !can);
        return can;
      },
      [&](const Pattern &pattern) {
        legalizations.failPattern(op, pattern);
        if (onFailure)
          onFailure(pattern);
      },
      [&](const Pattern &pattern) -> LogicalResult {
        LogicalResult accepted = onSuccess(pattern);
        legalizations.endPattern(succeeded(accepted) ? "succeeded"
                                                     : "rolled back");
        return accepted;
      });
  legalizations.endOperation(op, succeeded(result));
  return result;
}

using Roots = ArrayRef<Operation *>;

/// Runs a conversion, and tells Legalizations of it.
static LogicalResult convert(Roots roots, const ConversionTarget &target,
                             const FrozenRewritePatternSet &patterns,
                             bool isFull, function_ref<LogicalResult()> run) {
  Engine &engine = Engine::get();
  if (!engine.legalizations.isOpen() || !engine.follows())
    return run();
  // The conversion is the next action.
  engine.legalizations.beginConversion(target, patterns, roots, isFull,
                                       engine.position.ordinal + 1);
  LogicalResult result = run();
  engine.legalizations.endConversion(failed(result));
  return result;
}

extern "C++" {

ADBG_INTERPOSE(LogicalResult, partialMany, ADBG_PARTIAL_CONVERSION_MANY,
               Roots roots, const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns,
               ConversionConfig config) {
  static Original<decltype(partialMany)> next(ADBG_PARTIAL_CONVERSION_MANY);
  return convert(roots, target, patterns, /*isFull=*/false,
                 [&] { return next(roots, target, patterns, config); });
}

ADBG_INTERPOSE(LogicalResult, partialOne, ADBG_PARTIAL_CONVERSION,
               Operation *root, const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns,
               ConversionConfig config) {
  static Original<decltype(partialOne)> next(ADBG_PARTIAL_CONVERSION);
  return convert(root, target, patterns, /*isFull=*/false,
                 [&] { return next(root, target, patterns, config); });
}

ADBG_INTERPOSE(LogicalResult, fullMany, ADBG_FULL_CONVERSION_MANY, Roots roots,
               const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns,
               ConversionConfig config) {
  static Original<decltype(fullMany)> next(ADBG_FULL_CONVERSION_MANY);
  return convert(roots, target, patterns, /*isFull=*/true,
                 [&] { return next(roots, target, patterns, config); });
}

ADBG_INTERPOSE(LogicalResult, fullOne, ADBG_FULL_CONVERSION, Operation *root,
               const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns,
               ConversionConfig config) {
  static Original<decltype(fullOne)> next(ADBG_FULL_CONVERSION);
  return convert(root, target, patterns, /*isFull=*/true,
                 [&] { return next(root, target, patterns, config); });
}

ADBG_INTERPOSE(LogicalResult, partialManyTo18,
               ADBG_PARTIAL_CONVERSION_MANY_TO_18, Roots roots,
               const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns, void *illegal) {
  static Original<decltype(partialManyTo18)> next(
      ADBG_PARTIAL_CONVERSION_MANY_TO_18);
  return convert(roots, target, patterns, /*isFull=*/false,
                 [&] { return next(roots, target, patterns, illegal); });
}

ADBG_INTERPOSE(LogicalResult, partialOneTo18, ADBG_PARTIAL_CONVERSION_TO_18,
               Operation *root, const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns, void *illegal) {
  static Original<decltype(partialOneTo18)> next(ADBG_PARTIAL_CONVERSION_TO_18);
  return convert(root, target, patterns, /*isFull=*/false,
                 [&] { return next(root, target, patterns, illegal); });
}

ADBG_INTERPOSE(LogicalResult, fullManyTo18, ADBG_FULL_CONVERSION_MANY_TO_18,
               Roots roots, const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns) {
  static Original<decltype(fullManyTo18)> next(ADBG_FULL_CONVERSION_MANY_TO_18);
  return convert(roots, target, patterns, /*isFull=*/true,
                 [&] { return next(roots, target, patterns); });
}

ADBG_INTERPOSE(LogicalResult, fullOneTo18, ADBG_FULL_CONVERSION_TO_18,
               Operation *root, const ConversionTarget &target,
               const FrozenRewritePatternSet &patterns) {
  static Original<decltype(fullOneTo18)> next(ADBG_FULL_CONVERSION_TO_18);
  return convert(root, target, patterns, /*isFull=*/true,
                 [&] { return next(root, target, patterns); });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isConverted(Type result) { return bool(result); }
static bool isConverted(LogicalResult result) { return succeeded(result); }

/// Converts a type, and tells Legalizations if it does not convert.
template <typename Convert>
static auto noted(const TypeConverter &converter, Type type, Convert convert) {
  Legalizations &legalizations = Engine::get().legalizations;
  std::optional<decltype(convert())> result;
  auto run = [&] {
    result = convert();
    return isConverted(*result);
  };
  if (legalizations.typeReasons.areAsked())
    legalizations.typeReasons.listen(converter, type, run);
  else
    run();
  if (LLVM_UNLIKELY(!isConverted(*result)) && legalizations.isTracing())
    legalizations.typeFailed(converter, type);
  return *result;
}

ADBG_INTERPOSE(Type, convertType, ADBG_CONVERT_TYPE, const TypeConverter *self,
               Type type) {
  static Original<decltype(convertType)> next(ADBG_CONVERT_TYPE);
  return noted(*self, type, [&] { return next(self, type); });
}

ADBG_INTERPOSE(LogicalResult, convertTypeToMany, ADBG_CONVERT_TYPE_MANY,
               const TypeConverter *self, Type type,
               SmallVectorImpl<Type> &results) {
  static Original<decltype(convertTypeToMany)> next(ADBG_CONVERT_TYPE_MANY);
  return noted(*self, type, [&] { return next(self, type, results); });
}

ADBG_INTERPOSE(Type, convertValueType, ADBG_CONVERT_VALUE_TYPE,
               const TypeConverter *self, Value value) {
  static Original<decltype(convertValueType)> next(ADBG_CONVERT_VALUE_TYPE);
  return noted(*self, value.getType(), [&] { return next(self, value); });
}

ADBG_INTERPOSE(LogicalResult, convertValueTypeToMany,
               ADBG_CONVERT_VALUE_TYPE_MANY, const TypeConverter *self,
               Value value, SmallVectorImpl<Type> &results) {
  static Original<decltype(convertValueTypeToMany)> next(
      ADBG_CONVERT_VALUE_TYPE_MANY);
  return noted(*self, value.getType(),
               [&] { return next(self, value, results); });
}

} // extern "C++"
