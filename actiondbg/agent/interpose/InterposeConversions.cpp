//===- InterposeConversions.cpp - Dialect conversions ---------------------===//

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

/// Runs a conversion, and reports it to Legalizations.
template <bool isFull, typename Next, typename Roots, typename... Rest>
static LogicalResult
convert(Next next, Roots roots, const ConversionTarget &target,
        const FrozenRewritePatternSet &patterns, Rest... rest) {
  Engine &engine = Engine::get();
  if (!engine.legalizations.isOpen() || !engine.follows())
    return next(roots, target, patterns, rest...);
  // The conversion is the next action.
  engine.legalizations.beginConversion(target, patterns, roots, isFull,
                                       engine.position.ordinal + 1);
  LogicalResult result = next(roots, target, patterns, rest...);
  engine.legalizations.endConversion(failed(result));
  return result;
}

#define ADBG_CONVERSION(NAME, SYMBOL, IS_FULL, ROOTS, ...)                     \
  ADBG_INTERPOSE_BY(convert<IS_FULL>, LogicalResult, NAME, SYMBOL, ROOTS,      \
                    const ConversionTarget &,                                  \
                    const FrozenRewritePatternSet &__VA_OPT__(, ) __VA_ARGS__)

ADBG_CONVERSION(partialMany, ADBG_PARTIAL_CONVERSION_MANY, false, Roots,
                ConversionConfig)
ADBG_CONVERSION(partialOne, ADBG_PARTIAL_CONVERSION, false, Operation *,
                ConversionConfig)
ADBG_CONVERSION(fullMany, ADBG_FULL_CONVERSION_MANY, true, Roots,
                ConversionConfig)
ADBG_CONVERSION(fullOne, ADBG_FULL_CONVERSION, true, Operation *,
                ConversionConfig)
ADBG_CONVERSION(partialManyTo18, ADBG_PARTIAL_CONVERSION_MANY_TO_18, false,
                Roots, void *)
ADBG_CONVERSION(partialOneTo18, ADBG_PARTIAL_CONVERSION_TO_18, false,
                Operation *, void *)
ADBG_CONVERSION(fullManyTo18, ADBG_FULL_CONVERSION_MANY_TO_18, true, Roots)
ADBG_CONVERSION(fullOneTo18, ADBG_FULL_CONVERSION_TO_18, true, Operation *)

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isConverted(Type result) { return bool(result); }
static bool isConverted(LogicalResult result) { return succeeded(result); }

static Type typeOf(Type type) { return type; }
static Type typeOf(Value value) { return value.getType(); }

/// Converts a type, or the type of a value; reports a type that does not
/// convert to Legalizations.
template <typename Result, typename Next, typename Source, typename... Rest>
static Result noted(Next next, const TypeConverter *self, Source source,
                    Rest... rest) {
  Legalizations &legalizations = Engine::get().legalizations;
  std::optional<Result> result;
  auto run = [&] {
    result = next(self, source, std::forward<Rest>(rest)...);
    return isConverted(*result);
  };
  if (legalizations.typeReasons.areAsked())
    legalizations.typeReasons.listen(*self, typeOf(source), run);
  else
    run();
  if (LLVM_UNLIKELY(!isConverted(*result)) && legalizations.isTracing())
    legalizations.typeFailed(*self, typeOf(source));
  return *result;
}

ADBG_INTERPOSE_BY(noted, Type, convertType, ADBG_CONVERT_TYPE,
                  const TypeConverter *, Type)
ADBG_INTERPOSE_BY(noted, LogicalResult, convertTypeToMany,
                  ADBG_CONVERT_TYPE_MANY, const TypeConverter *, Type,
                  SmallVectorImpl<Type> &)
ADBG_INTERPOSE_BY(noted, Type, convertValueType, ADBG_CONVERT_VALUE_TYPE,
                  const TypeConverter *, Value)
ADBG_INTERPOSE_BY(noted, LogicalResult, convertValueTypeToMany,
                  ADBG_CONVERT_VALUE_TYPE_MANY, const TypeConverter *, Value,
                  SmallVectorImpl<Type> &)
