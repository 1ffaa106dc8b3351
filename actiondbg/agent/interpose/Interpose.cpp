//===- Interpose.cpp - Interposed functions of MLIR -----------------------===//
//
// The agent is preloaded, so that the functions defined here replace those of
// libMLIR, which calls its own exported functions through the PLT. Each calls
// the original. Versions.h has their mangled names.
//
//===----------------------------------------------------------------------===//

#include "interpose/Interpose.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "interpose/ObservedProcess.h"
#include "record/PatternSets.h"
#include "support/Pipelines.h"
#include "support/Unwinding.h"
#include "support/Without.h"

#include "mlir/IR/PatternMatch.h"

using namespace adbg;

/// Runs an action that is followed.
static void runFollowed(Engine &engine, Frame &frame,
                        function_ref<void()> run) {
  if (!engine.isObserving)
    return engine.dispatch(frame, run);
  if (LLVM_LIKELY(engine.observer.recorder))
    engine.observer.recorder->enterContext(frame.contextNumber);
  engine.enter(frame);
  if (!engine.skipsRecorded(frame)) {
    if (LLVM_LIKELY(frame.action)) {
      UpstreamLog::Entry entry(frame);
      run();
    } else {
      run();
    }
  }
  engine.exit(frame);
}

void adbg::runAction(Frame &frame, function_ref<void()> call) {
  auto run = [&] { callWatched(call, [&] { Engine::unwinds(frame); }); };
  Engine &engine = Engine::get();
  if (LLVM_LIKELY(engine.isWithin()))
    return runFollowed(engine, frame, run);
  if (Engine::joinPart())
    return runFollowed(Engine::get(), frame, run);
  Turn turn(engine, Turn::For::Action, frame.contextNumber);
  if (turn)
    runFollowed(engine, frame, run);
  else
    run();
}

/// Ordinals are reproducible only if one thread dispatches; a recording leaves
/// the threads to the tool, unless it is asked for.
static bool usesOneThread(const Engine &engine) {
  return engine.isAttached() &&
         (!engine.isObserving || Recorder::usesOneThread());
}

ADBG_INTERPOSE(void, disableThreading, ADBG_DISABLE_THREADING,
               MLIRContext *self, bool disable) {
  Engine &engine = Engine::get();
  if (!usesOneThread(engine) || engine.isSilentHere())
    return next(self, disable);
  engine.wantsThreads |= !disable;
  next(self, true);
}

void adbg::observeContext(MLIRContext *context) {
  observeProcess(context);
  Engine &engine = Engine::get();
  if (!(engine.isAttached() || Engine::isLibrary) || engine.isSilentHere()) {
    if (!engine.isAttached())
      noteUnobserved();
    return;
  }
  Contexts::all().add(context);
  static ADBG_OF_INSTANCE bool isFirst = true;
  if (std::exchange(isFirst, false) && !findTraits(context))
    llvm::errs() << "actiondbg: the agent cannot look up operation traits in "
                    "this MLIR; folds of constants count as actions\n";
  forgetContexts();
  Frame::seesChanges = whyNotHooked("changes").empty();
  disableThreadingNext disable;
  engine.wantsThreads |= context->isMultithreadingEnabled();
  // A context that a fork inherits has no threads any more. MLIR refuses to
  // switch them off while it runs passes.
  if (disable && context->isMultithreadingEnabled() && usesOneThread(engine) &&
      !isSwitchedOff("threads-off"))
    disable(context, true);
  Contexts::note(context);
}

// One constructor may call the other, and be observed doing so or not.
static thread_local MLIRContext *attached = nullptr;

ADBG_INTERPOSE(void, contextCtor, ADBG_CONTEXT_CTOR, MLIRContext *self,
               MLIRContext::Threading threading) {
  attached = nullptr;
  next(self, threading);
  if (attached != self)
    observeContext(self);
}

ADBG_INTERPOSE(void, contextCtorRegistry, ADBG_CONTEXT_CTOR_REGISTRY,
               MLIRContext *self, const DialectRegistry &registry,
               MLIRContext::Threading threading) {
  next(self, registry, threading);
  observeContext(self);
  attached = self;
}

ADBG_INTERPOSE(void, contextDtor, ADBG_CONTEXT_DTOR, MLIRContext *self) {
  // A trial leaves contexts allocated, as operations: see InterposeIR.cpp.
  if (Engine::get().forks.role == Role::Trial)
    return;
  next(self);
  Contexts::all().remove(self);
  // A later context may reuse the memory.
  forgetContexts();
}

// Until LLVM 21, a pass manager that writes reproducers runs its passes in
// another thread and waits for it, even in a context without threads.
ADBG_INTERPOSE(bool, runOnThread, ADBG_RUN_ON_THREAD, void *self,
               function_ref<void()> run, unsigned stackSize) {
  Engine &engine = Engine::get();
  if (stackSize || !tool::runSafely || !usesOneThread(engine) ||
      engine.isSilentHere() || isSwitchedOff("threads-off"))
    return next(self, run, stackSize);
  return tool::runSafely(self, run);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

using FoldResults = SmallVectorImpl<OpFoldResult>;

// The operation being folded. One overload of fold calls the other, through the
// PLT or not, depending on the compiler of libMLIR.
static thread_local Operation *folded = nullptr;

/// Stores the result of a fold.
static void noteFound(Frame &frame, Operation *op,
                      ArrayRef<OpFoldResult> results) {
  AgentHeap agentHeap;
  Observer &observer = Engine::get().observer;
  frame.foldedId = ids.of(op);
  if (results.empty()) {
    frame.found = Found::InPlace;
    return observer.modified(op);
  }
  bool hasConstant = false, hasValue = false;
  for (OpFoldResult result : results)
    (isa<Attribute>(result) ? hasConstant : hasValue) = true;
  frame.found = !hasValue      ? Found::Constants
                : !hasConstant ? Found::Values
                               : Found::Both;
  if (frame.wantsReasons && !observer.recorder)
    for (OpFoldResult result : results)
      frame.needRare().values.push_back(describeFolded(result, observer));
}

template <typename Fold>
static LogicalResult runFold(Frame &frame, Operation *op, FoldResults &results,
                             Fold fold) {
  size_t before = results.size();
  LogicalResult result = fold();
  frame.returned = succeeded(result) ? Returned::Success : Returned::Failure;
  if (LLVM_UNLIKELY(succeeded(result)))
    noteFound(frame, op, ArrayRef<OpFoldResult>(results).drop_front(before));
  return result;
}

static LogicalResult dispatchDebugged(Engine &engine, Frame &frame,
                                      Operation *op, FoldResults &results,
                                      function_ref<LogicalResult()> fold) {
  LogicalResult result = failure();
  if (!engine.skipsPatterns())
    engine.dispatch(frame, [&] { result = runFold(frame, op, results, fold); });
  return result;
}

LLVM_ATTRIBUTE_ALWAYS_INLINE static NameFacts &factsOf(Engine &engine,
                                                       Operation *op) {
  AgentHeap agentHeap; // the table may grow
  return engine.names.ofFolded(op);
}

template <typename Fold>
LLVM_ATTRIBUTE_ALWAYS_INLINE static LogicalResult
dispatchFollowed(Engine &engine, Operation *op, FoldResults &results, Fold fold,
                 unsigned contextNumber = Contexts::unknown) {
  ids.prefetch(op);
  NameFacts &name = factsOf(engine, op);
  if (name.isConstant)
    return fold();
  Operation *outer = std::exchange(folded, op);
  IRUnit unit(op);
  Frame frame{ArrayRef<IRUnit>(unit)};
  frame.contextNumber = contextNumber;
  LogicalResult result = failure();
  if (LLVM_LIKELY(engine.isObserving)) {
    // Most actions are folds: keep this path short.
    engine.enter(frame, &name);
    if (LLVM_LIKELY(!engine.skipsRecorded(frame)))
      result = runFold(frame, op, results, fold);
    engine.exit(frame);
  } else {
    result = dispatchDebugged(engine, frame, op, results, fold);
  }
  folded = outer;
  return result;
}

// Not inlined: most folds are inside of actions.
LLVM_ATTRIBUTE_NOINLINE static LogicalResult
dispatchOutermost(Engine &engine, Operation *op, FoldResults &results,
                  function_ref<LogicalResult()> fold) {
  if (!engine.isAttached() || engine.isSilentHere())
    return fold();
  // No action, and not to be counted as one of a thread that is not followed.
  if (isConstantLike(op->getName()))
    return fold();
  unsigned number = Contexts::all().numberOf(op->getContext());
  Turn turn(engine, Turn::For::Action, number);
  if (turn)
    return dispatchFollowed(engine, op, results, fold, number);
  Operation *outer = std::exchange(folded, op);
  LogicalResult result = fold();
  folded = outer;
  return result;
}

template <typename Fold>
LLVM_ATTRIBUTE_ALWAYS_INLINE static LogicalResult
dispatchFold(Operation *op, FoldResults &results, Fold fold) {
  // Programs that build IR fold operations before the first action.
  if (LLVM_UNLIKELY(!Layout::isDecided()))
    return fold();
  Engine &engine = Engine::get();
  if (LLVM_LIKELY(engine.isWithin()))
    return dispatchFollowed(engine, op, results, fold);
  return dispatchOutermost(engine, op, results, fold);
}

// Not inlined, so that the other path of its caller needs no stack space.
template <typename Next>
LLVM_ATTRIBUTE_NOINLINE static LogicalResult
dispatchWithOperands(Operation *self, ArrayRef<Attribute> operands,
                     FoldResults &results, Next next) {
  return dispatchFold(self, results,
                      [&] { return next(self, operands, results); });
}

ADBG_INTERPOSE(LogicalResult, foldWithOperands, ADBG_FOLD, Operation *self,
               ArrayRef<Attribute> operands, FoldResults &results) {
  // Usually called by the other overload.
  if (LLVM_LIKELY(self == folded))
    return next(self, operands, results);
  return dispatchWithOperands(self, operands, results, next);
}

ADBG_INTERPOSE(LogicalResult, foldOperation, ADBG_FOLD_RESULTS, Operation *self,
               FoldResults &results) {
  if (LLVM_UNLIKELY(self == folded))
    return next(self, results);
  return dispatchFold(self, results, [&] { return next(self, results); });
}

//===----------------------------------------------------------------------===//
// Names for completion
//===----------------------------------------------------------------------===//

ADBG_INTERPOSE(void, freezePatterns, ADBG_FROZEN_PATTERNS,
               FrozenRewritePatternSet *self, RewritePatternSet &&patterns,
               ArrayRef<std::string> disabled, ArrayRef<std::string> enabled) {
  Engine &engine = Engine::get();
  if (engine.isAttached() && !engine.isSilentHere()) {
    AgentHeap agentHeap;
    forgetNames();
    if (engine.isObserving && PatternSets::isKept() &&
        arePatternsKnown(patterns))
      PatternSets::record(patterns.getNativePatterns(), disabled, enabled);
    // For completion, in interactive use.
    if (!engine.isObserving && engine.follows() && arePatternsKnown(patterns))
      for (const std::unique_ptr<RewritePattern> &pattern :
           patterns.getNativePatterns()) {
        engine.knownNames.addPattern(*pattern);
        // A conversion ranks its patterns before an applicator sees them.
        if (engine.alternative)
          engine.alternative->setBenefit(*pattern);
      }
  }
  next(self, std::move(patterns), disabled, enabled);
}
