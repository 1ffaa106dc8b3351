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
#include "fork/QuietFork.h"
#include "interpose/SeenPrograms.h"
#include "record/PatternSets.h"
#include "support/Pipelines.h"
#include "support/Unwinding.h"
#include "support/Without.h"

#include "mlir/IR/PatternMatch.h"

using namespace adbg;

//===----------------------------------------------------------------------===//
// Attaching
//===----------------------------------------------------------------------===//

namespace {
/// The front end's settings, from the environment.
struct AgentSettings {
  /// The front end's socket; empty if the agent is not to attach.
  std::string socket;
  RecordSettings record;
  /// The pid of the front end with which the tool ends; 0 for none.
  pid_t parent = 0;
  /// Whether this process may be one of several of a program.
  bool isOfProgram = false;
};
} // namespace

static AgentSettings &settings() { return immortal<AgentSettings>(); }

/// Reads a variable, and removes it unless it is for the children, too.
static std::string readVariable(const char *name, bool isKept) {
  const char *value = getenv(name);
  std::string text = value ? value : "";
  if (!isKept)
    unsetenv(name);
  return text;
}

static void removeAgent() {
  for (const char *name :
       {"ACTIONDBG_PROGRAM", "ACTIONDBG_FOLLOW", "ACTIONDBG_CACHE",
        "ACTIONDBG_WITHOUT", "ACTIONDBG_KEPT"})
    unsetenv(name);
  if (const char *users = getenv("ACTIONDBG_PRELOAD"))
    setenv("LD_PRELOAD", users, 1);
  else
    unsetenv("LD_PRELOAD");
  unsetenv("ACTIONDBG_PRELOAD");
}

/// Takes the settings from the environment, and removes the agent from it, so
/// that no child of a tool loads it. The children of a program load the agent:
/// children of a recorded process are recorded, and children of a debugged
/// process only noted.
static void takeEnvironment() {
  settings().isOfProgram = getenv("ACTIONDBG_PROGRAM");
  // Several logs would overwrite each other.
  bool isKept = settings().isOfProgram && getenv("ACTIONDBG_SEEN") &&
                !getenv("ACTIONDBG_UPSTREAM_LOG");
  auto read = [=](const char *name) { return readVariable(name, isKept); };
  std::string socket = read("ACTIONDBG_SOCKET");
  if (settings().socket.empty()) // a program may have been told another one
    settings().socket = socket;
  settings().record = RecordSettings::read(read);
  std::string parent = read("ACTIONDBG_RECORD_PARENT");
  settings().parent = static_cast<pid_t>(strtol(parent.c_str(), nullptr, 10));
  if (!isKept)
    removeAgent();
}

static void takeEnvironmentOnce() {
  static bool isTaken = false;
  if (!std::exchange(isTaken, true))
    takeEnvironment();
}

/// Ends a program that the front end has started when that ends.
__attribute__((constructor)) static void endWithFrontEnd() {
  const char *frontEnd = getenv("ACTIONDBG_PROGRAM");
  if (frontEnd && getppid() == strtol(frontEnd, nullptr, 10))
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

__attribute__((destructor)) static void sayGoodbye() {
  Engine::first().end.exit();
}

/// Ends the tool when the recording front end ends.
static void endWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    exitAtOnce(3);
}

/// The settings for forks that the program makes of this process: a fork that
/// runs actions is one of the program's processes. Null if the forks run
/// unobserved.
static const AgentSettings *settingsOfForks = nullptr;

/// Whether this process has said that it cannot be recorded.
static bool isGivenUp = false;

/// Whether another thread was in an action when this one last forked the
/// process.
static thread_local bool wasBusy = false;

/// Looks for actions before the fork is made: in the fork, a lock that another
/// thread holds at that moment is never given back.
static void prepareFork() { wasBusy = Engine::isBusyElsewhere(); }

static void becomeFork() {
  Engine::get().abandon();
  noteForked();
  // What the parent has begun in this thread, the engine before ends.
  Engine::isForked = settingsOfForks && !wasBusy;
}

/// Prepares for forks of this process, whose settings are `given`.
static void expectForks(const AgentSettings &given) {
  static bool isExpected = false;
  if (!std::exchange(isExpected, true))
    pthread_atfork(prepareFork, nullptr, becomeFork);
  leaveTool = [] { Engine::get().abandon(); };
  if (given.isOfProgram && given.record.upstreamLog.empty())
    settingsOfForks = new AgentSettings(given);
}

namespace {
/// While an object lives, the objects of other threads wait in their
/// constructors: threads may make the first contexts at the same time. Unlike a
/// recursive mutex, which knows its owner by a number that a fork changes, it
/// ends in a fork, too.
class OneThread {
  static inline std::mutex mutex;
  static inline thread_local bool isHeld = false;
  bool isOuter = !std::exchange(isHeld, true);

public:
  OneThread() {
    if (isOuter)
      mutex.lock();
  }
  OneThread(const OneThread &) = delete;
  ~OneThread() {
    if (isOuter)
      mutex.unlock();
    isHeld &= !isOuter;
  }
};
} // namespace

/// Carries out the settings, at the first context.
static void applySettings(MLIRContext *context) {
  OneThread oneThread;
  AgentHeap agentHeap;
  // It is taken with the rest of the environment.
  const char *glob = getenv("ACTIONDBG_FOLLOW");
  if (glob && !isFollowed(glob))
    return;
  takeEnvironmentOnce();
  if (std::exchange(Engine::isForked, false) && !runsUnobserved()) {
    Engine::renew();
    settings() = *settingsOfForks;
  }
  AgentSettings given = std::exchange(settings(), AgentSettings());
  // What a program leaves running at its end outlives the front end's socket.
  if (given.isOfProgram && access(given.socket.c_str(), F_OK) != 0)
    given.socket.clear();
  bool observes =
      !given.record.path.empty() || !given.record.upstreamLog.empty();
  if (given.socket.empty() && !observes)
    return;
  expectForks(given);
  const std::string firstPath = given.record.path;
  RecordFile::isClaimed = given.isOfProgram;
  if (given.isOfProgram && !given.record.path.empty())
    given.record.path =
        isOfSuite() ? claimSuiteRecording() : claimRecording(given.record.path);
  // The output of a process of a suite is compared.
  given.record.names = !isOfSuite();
  observes &= !isOfSuite() || !given.record.path.empty();
  if (given.socket.empty() && !observes)
    return;
  if (given.parent && !given.isOfProgram)
    endWithParent(given.parent);
  if (observes && !Engine::startObserving(given.record,
                                          context->isMultithreadingEnabled())) {
    if (!isOfSuite() && (!given.isOfProgram || given.record.path == firstPath))
      exitAtOnce(3);
    // The program is under way: its result is worth more than this recording.
    unlink(given.record.path.c_str());
    isGivenUp = true;
    if (isOfSuite())
      noteUnrecorded();
    return;
  }
  if (!given.socket.empty()) {
    noteDebugged(/*isReplay=*/false);
    Engine::get().attach(given.socket);
  }
}

/// Whether a front end started this process, which has made no context yet.
static bool isStartedByFrontEnd() {
  return getenv("ACTIONDBG_SOCKET") || getenv("ACTIONDBG_RECORD") ||
         getenv("ACTIONDBG_UPSTREAM_LOG") || !settings().socket.empty() ||
         !settings().record.path.empty();
}

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
  applySettings(context);
  Engine &engine = Engine::get();
  if (!(engine.isAttached() || Engine::isLibrary) || engine.isSilentHere()) {
    if (!engine.isAttached() && !isGivenUp)
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

//===----------------------------------------------------------------------===//
// Functions that a program calls
//
// A Python program may load the agent itself (actiondbg.attach) and call these
// functions, instead of being started with the agent and its settings in the
// environment.
//===----------------------------------------------------------------------===//

extern "C" {

/// Prepares for recordings of parts of this program. Returns whether it can be
/// recorded: not if it is debugged or recorded as a whole.
ADBG_EXPORT bool adbg_prepare() {
  if (!Engine::isLibrary && (Engine::first().isAttached() ||
                             (isStartedByFrontEnd() && !runsUnobserved())))
    return false;
  Engine::isLibrary = true;
  return true;
}

/// Connects to the front end that listens at a socket, when the program makes
/// its next context. The program goes on when the front end ends. It is not
/// forked: a fork could not take the place of a process that others wait for.
ADBG_EXPORT void adbg_connect(const char *socket) {
  Connection::onGone = [] { Engine::first().detach(); };
  takeEnvironmentOnce();
  settings().socket = socket;
}

/// Records what this process does from now on. The texts are those of
/// RecordSettings. Returns false if the file cannot be written.
ADBG_EXPORT bool adbg_begin(const char *path, const char *ir,
                            const char *skips) {
  RecordSettings settings;
  settings.path = path;
  settings.ir = ir;
  settings.skips = skips;
  return Engine::beginPart(settings);
}

/// Writes what is recorded so far. Returns false if something could not be
/// written, so that the recording has ended.
ADBG_EXPORT bool adbg_flush() {
  Recorder::flushAll();
  return RecordFile::isOpen();
}

/// Completes the recording.
ADBG_EXPORT void adbg_end() { Engine::endPart(); }

} // extern "C"
