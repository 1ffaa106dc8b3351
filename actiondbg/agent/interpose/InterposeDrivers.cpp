//===- InterposeDrivers.cpp - Functions that drive rewrites --------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "support/Pipelines.h"
#include "support/Unwinding.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace adbg;

//===----------------------------------------------------------------------===//
// The order of patterns
//===----------------------------------------------------------------------===//

/// Whether a dialect conversion runs, whose applicators have a cost model of
/// their own and are in use by several patterns at a time.
static bool isConverting(const Engine &engine) {
  const Frame *frame = engine.innermost;
  return frame && (frame->isConversion() || frame->conversion);
}

/// Orders the patterns of an applicator again, if the engine's alternative
/// changed their benefits since.
static void orderAnew(PatternApplicator &applicator, Engine &engine) {
  if (!isConverting(engine) && engine.alternative->isOutdated(&applicator))
    applicator.applyCostModel(
        [](const Pattern &pattern) { return pattern.getBenefit(); });
}

/// A benefit for the opposite order of patterns with the same one: `count` is
/// the number of the pattern, and each order of benefits is kept.
static PatternBenefit reversed(PatternBenefit benefit, unsigned count) {
  constexpr unsigned range = 256;
  if (benefit.isImpossibleToMatch() || benefit.getBenefit() >= range - 1)
    return benefit;
  return PatternBenefit(benefit.getBenefit() * range + count % range);
}

using CostModel = function_ref<PatternBenefit(const Pattern &)>;

ADBG_INTERPOSE(void, applyCostModel, ADBG_COST_MODEL, PatternApplicator *self,
               CostModel model) {
  Engine &engine = Engine::get();
  if (Recorder::reversesPatterns() && engine.follows() &&
      !isConverting(engine)) {
    unsigned count = 0;
    return next(self, [&](const Pattern &pattern) {
      return reversed(model(pattern), count++);
    });
  }
  if (!engine.alternative || !engine.follows())
    return next(self, model);
  Alternative &alternative = *engine.alternative;
  bool inConversion = isConverting(engine);
  alternative.noteOrdered(self);
  next(self, [&](const Pattern &pattern) {
    alternative.setBenefit(pattern);
    return alternative.benefitOf(pattern, model(pattern), inConversion);
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

using CanApply = function_ref<bool(const Pattern &)>;
using OnFailure = function_ref<void(const Pattern &)>;
using OnSuccess = function_ref<LogicalResult(const Pattern &)>;

/// Tells Legalizations of what is tried for an operation by `run`.
static LogicalResult
traced(Engine &engine, Operation *op, CanApply canApply, OnFailure onFailure,
       OnSuccess onSuccess,
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

static void noteReturn(Returned returned) {
  Engine &engine = Engine::get();
  Frame *frame = engine.follows() ? engine.innermost : nullptr;
  if (frame && frame->kind == Kind::Pattern)
    frame->returned = returned;
}

/// The pattern matched; the driver may still reject its result.
static LogicalResult noteSuccess(const Pattern &pattern, OnSuccess next) {
  noteReturn(Returned::Success);
  if (!next || succeeded(next(pattern))) {
    ++Engine::get().applied;
    return success();
  }
  noteReturn(Returned::RolledBack);
  Frame *frame = Engine::get().innermost;
  AgentHeap agentHeap;
  if (frame && frame->kind == Kind::Pattern && frame->wantsReasons)
    Engine::get().reason(
        *frame, "rolled back: the pattern's result could not be legalized");
  return failure();
}

ADBG_INTERPOSE(LogicalResult, matchAndRewrite, ADBG_MATCH_AND_REWRITE,
               PatternApplicator *self, Operation *op,
               PatternRewriter &rewriter, CanApply canApply,
               OnFailure onFailure, OnSuccess onSuccess) {
  Engine &engine = Engine::get();
  if (!engine.follows())
    return next(self, op, rewriter, canApply, onFailure, onSuccess);
  if (engine.skipsPatterns())
    return failure();
  if (LLVM_UNLIKELY(engine.alternative != nullptr))
    orderAnew(*self, engine);
  ReasonListener reasons(rewriter, op);
  auto succeed = [&](const Pattern &pattern) -> LogicalResult {
    return noteSuccess(pattern, onSuccess);
  };
  if (!engine.legalizations.isTracing())
    return next(self, op, rewriter, canApply, onFailure, succeed);
  return traced(engine, op, canApply, onFailure, succeed,
                [&](CanApply can, OnFailure fail, OnSuccess succeed) {
                  return next(self, op, rewriter, can, fail, succeed);
                });
}

//===----------------------------------------------------------------------===//
// Pass managers
//===----------------------------------------------------------------------===//

unsigned adbg::runningPassManagers = 0;

ADBG_INTERPOSE(LogicalResult, runPasses, ADBG_RUN_PASSES, PassManager *self,
               Operation *op) {
  Engine &engine = Engine::get();
  if (!engine.follows())
    return next(self, op);
  unsigned added = !engine.isObserving;
  auto end = [added] { runningPassManagers -= added; };
  runningPassManagers += added;
  LogicalResult result = failure();
  callWatched([&] { result = next(self, op); }, end);
  end();
  // This may be a fork that was made meanwhile: of the program, with an engine
  // of its own, or an alternative.
  Engine &now = Engine::get();
  if (now.isObserving) {
    if (Recorder::keepsOutput() && !now.hasFrames()) {
      AgentHeap agentHeap;
      Stages::settled(op, *now.observer.recorder);
    }
    return result;
  }
  if (runningPassManagers || !now.alternative)
    return result;
  return now.alternative->finish(op, result);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

using Roots = ArrayRef<Operation *>;

/// Runs a conversion, and reports it to Legalizations.
template <bool isFull, typename Next, typename Roots, typename... Rest>
static LogicalResult
convert(Next next, Roots roots, const ConversionTarget &target,
        const FrozenRewritePatternSet &patterns, Rest... rest) {
  Engine &engine = Engine::get();
  if (!engine.legalizations.file.isOpen() || !engine.follows())
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

/// The tool's llvm::PointerUnion<Type, Value>.
struct TypeOrValue {
  static constexpr uintptr_t valueMark = 4;
  uintptr_t bits;
};
static Type typeOf(TypeOrValue either) {
  auto *pointer = reinterpret_cast<void *>(either.bits & ~either.valueMark);
  return either.bits & either.valueMark
             ? Value::getFromOpaquePointer(pointer).getType()
             : Type::getFromOpaquePointer(pointer);
}

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
ADBG_INTERPOSE_BY(noted, LogicalResult, convertTypeOrValue,
                  ADBG_CONVERT_TYPE_OR_VALUE, const TypeConverter *,
                  TypeOrValue, SmallVectorImpl<Type> &)

//===----------------------------------------------------------------------===//
// Greedy drivers that do not converge
//===----------------------------------------------------------------------===//

// Not in an anonymous namespace: functions that take it have to be exported.
namespace adbg {
/// The driver's configuration, whose size differs between versions, on the
/// stack of the caller. What is behind it is copied, too.
struct PassedConfig {
  char bytes[256];
};
} // namespace adbg

// The driver takes a region, patterns, a configuration and a pointer. Its
// arguments are passed on as they came: in registers, where aarch64 has the
// address of a configuration, and on the stack.
#ifdef __x86_64__
#define ADBG_PASSED                                                            \
  void *region, void *patterns, void *third, void *fourth, void *fifth,        \
      void *sixth, PassedConfig config
#define ADBG_PASS region, patterns, third, fourth, fifth, sixth, config
#else
#define ADBG_PASSED void *region, void *patterns, void *third, void *fourth
#define ADBG_PASS region, patterns, third, fourth
#endif

/// Runs a driver, and reports that it did not converge.
template <typename Next> static LogicalResult watched(Next next, ADBG_PASSED) {
  unsigned &iterations = Engine::iterations();
  unsigned outer = std::exchange(iterations, 0);
  LogicalResult result = next(ADBG_PASS);
  unsigned own = std::exchange(iterations, outer);
  if (succeeded(result))
    return result;
  Engine &engine = Engine::get();
  Turn turn(engine, Turn::For::Event);
  if (turn && engine.breakpoints.catches(CatchKind::Nonconvergence))
    engine.caught({CatchKind::Nonconvergence,
                   "the greedy driver did not converge in " +
                       std::to_string(own) +
                       (own == 1 ? " iteration" : " iterations")});
  return result;
}

ADBG_INTERPOSE_BY(watched, LogicalResult, rewriteRegion, ADBG_GREEDY_REGION,
                  ADBG_PASSED)
ADBG_INTERPOSE_BY(watched, LogicalResult, rewriteRegionTo19,
                  ADBG_GREEDY_REGION_TO_19, ADBG_PASSED)

#undef ADBG_PASSED
#undef ADBG_PASS
