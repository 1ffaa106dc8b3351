//===- Engine.h - The stream of actions -------------------------*- C++ -*-===//

#pragma once

#include "edit/EditPlan.h"
#include "fork/Forks.h"
#include "match/BreakpointHits.h"
#include "match/Plan.h"
#include "observe/Legalizations.h"
#include "observe/RunTrace.h"
#include "record/Recorder.h"
#include "record/Stages.h"
#include "record/UpstreamLog.h"
#include "threads/Turn.h"

namespace adbg {

class Engine;

/// Reports how the tool ends. Also set and called in signal handlers.
class EndReport {
public:
  explicit EndReport(Engine &engine);

  volatile int crashSignal = 0, exitStatus = 0;
  /// Whether a crash stops the tool where nothing catches it.
  bool stopsOnCrash = false;

  /// Handles crash signals, and notes the exit status of this process.
  static void watch();
  /// Completes the recording, and tells the front end, once.
  void exit();
  /// Notes the crash, and stops if that is wanted. Called before the tool's own
  /// handler, which may print a lot.
  void crash(int signal);
  /// What the tool wrote about its crash, such as a failed assertion; may be
  /// empty.
  StringRef cause() const { return {causeText, causeSize}; }
  void sendCrash();
  /// Completes the record of the plan before the tool's exit handlers run: a
  /// handler may unload the plug-in whose pass exits. Handlers run in the
  /// reverse order of their registration.
  void finishPlanFirst();

private:
  void finishPlan();
  void send(StringRef method, Object end);
  void sendExit();
  void finishFiles();
  void noteCause();

  Engine &engine;
  /// Where the C library keeps the message of a failed assertion for debuggers;
  /// null if it does not.
  struct AbortMessage **abortMessage;
  // A crash cannot allocate memory: the allocator itself may have crashed.
  char causeText[2048];
  size_t causeSize = 0;
  /// Set while a crash is handled: another one then is the agent's.
  volatile bool isCrashing = false;
};

/// Dispatches the actions of one process. Its threads take turns, see Turn.h.
/// For a recording, each thread has an engine of its own.
class Engine {
public:
  static Engine &get() {
    return LLVM_LIKELY(local.engine) ? *local.engine : make();
  }
  /// Returns this thread's engine; async-signal-safe, because it creates none.
  static Engine &known() { return local.engine ? *local.engine : first(); }
  /// Returns the engine of the thread that created the first context.
  static Engine &first();

  /// Records the actions of all threads from now on, without stops. Returns
  /// false if the files cannot be written.
  static bool startObserving(const RecordSettings &settings, bool isThreaded);
  /// Records the actions of all threads from now on up to endPart: of a program
  /// that asks for it itself, any number of times. Returns false if the file
  /// cannot be written.
  static bool beginPart(const RecordSettings &settings);
  static void endPart();
  /// Observes this thread, if a part is recorded and the thread is not in an
  /// action. Returns whether it does so now.
  static bool joinPart() { return LLVM_UNLIKELY(isInPart) && joinOpenPart(); }
  /// Whether the program asks for recordings itself: its contexts get the
  /// agent's handler, whether or not actions are observed then.
  static bool isLibrary;
  /// Whether this process is a fork that the program has made of a debugged or
  /// recorded one, and is to be observed from its first context or action on.
  static bool isForked;
  /// Records the actions of this process from now on, beside the stops: of a
  /// fork that is at the beginning of the run. Returns false if the file cannot
  /// be written.
  bool beginRecording(const RecordSettings &settings);
  /// Adds the IR as it is now to that recording. Returns false outside of
  /// actions.
  bool recordStage();
  /// True if actions are recorded without stops.
  bool isObserving = false;
  void leaveThread();
  /// Called when this thread is about to drop its stack down to an address.
  static void jumps(uintptr_t stack);
  /// Called when an exception leaves an action of this thread: ends it.
  static void unwinds(Frame &frame);

  /// Connects, sends hello and serves the first requests. Called once, when the
  /// tool creates its first context, if the agent was started to attach.
  void attach(const std::string &socket);
  /// The front end has ended: nothing is observed or stopped any more.
  void detach() { attached = false; }
  /// Detaches in a fork that the tool itself made.
  void abandon();
  /// Forgets in such a fork all that was observed before the fork was made.
  static void renew();
  /// Whether a thread other than this one is in an action.
  static bool isBusyElsewhere();
  bool isAttached() const { return attached; }
  /// Whether this process is debugged or recorded, and no fork of it that the
  /// tool made.
  bool isOwnProcess() const { return getpid() == pid; }
  bool isConnected() const { return isOwnProcess() && connection.isOpen(); }
  /// Whether this thread's actions are observed now.
  bool follows() const { return attached && local.isFollowed && !silent; }
  /// Whether this thread is inside an action that is followed.
  bool isWithin() const { return attached && local.isInside && !silent; }
  /// Whether the agent itself runs MLIR code in this thread, see Silence.
  bool isSilentHere() const { return local.isFollowed && silent; }
  /// Whether this thread's operations are observed now: also while the agent
  /// edits IR.
  bool followsIR() const {
    return attached && local.isFollowed && (!silent || LLVM_UNLIKELY(edits));
  }
  /// Whether this thread's operations only get ids and lose them: its changes
  /// belong to no action, and another thread may be inside one.
  bool numbersIR() const {
    return attached && !local.isFollowed && !isObserving;
  }

  /// Runs `frame`'s action unless it is skipped, and makes the requested stops.
  void dispatch(Frame &frame, function_ref<void()> run);
  /// Begins and ends an action that is recorded and never skipped. Inlined into
  /// callers where the action's kind is a constant. `folded`: the name of the
  /// folded operation, for a fold.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void enter(Frame &frame,
                                          NameFacts *folded = nullptr);
  LLVM_ATTRIBUTE_ALWAYS_INLINE void exit(Frame &frame);
  /// Between `enter` and `exit`: whether to skip a recorded action.
  bool skipsRecorded(Frame &frame) {
    return LLVM_UNLIKELY(hasRules) && (frame.skipped = skips.wants(frame));
  }
  /// Whether every further pattern is skipped, whatever its place.
  bool skipsPatterns() const {
    return skips.plan && !mayStop() && !observer.recorder &&
           skips.plan->skipsAllUncounted(innermost, position.ordinal);
  }

  /// Called when an operation is about to be destroyed or replaced.
  void erased(Operation *op) { erasedUnits.erased(op); }
  void replaced(Operation *op, ValueRange by, bool isGuess = false) {
    erasedUnits.replaced(op, by);
    observer.replaced(op, by, isGuess);
  }
  bool hasFrames() const { return innermost != nullptr; }
  /// Whether the running actions are those of this thread.
  bool hasFramesHere() const { return local.isFollowed && hasFrames(); }

  /// Reports an event inside the innermost action that can be caught.
  void caught(const Event &event, Operation *about = nullptr,
              std::optional<Culprit> culprit = std::nullopt);
  /// Returns the operation that a diagnostic is about; null if it is unknown.
  Operation *diagnosedBy(const Diagnostic &diagnostic);
  /// Notes an error for the running actions; `op`, which it is about, may be
  /// null.
  void failsWith(StringRef error, Operation *op);
  /// Adds the reason why an action did not match or failed.
  void reason(Frame &frame, StringRef text) {
    if (LLVM_LIKELY(observer.recorder))
      observer.recorder->reason(frame, text);
    else
      frame.needRare().reasons.push_back(text.str());
  }
  void reason(Frame &frame, const Diagnostic &diagnostic);
  /// Stops inside the action. Called in a signal handler.
  void stopInside();
  /// Forks this process; returns 0 in the child, which is at the same stop.
  pid_t fork(const ForkSettings &settings) {
    return forks.fork(settings, [&] {
      // A fork that replaces the tool on its timeline is muted up to there.
      trace.forked(settings.role == Role::Replica || settings.muted);
      join();
    });
  }

private:
  // Read at each action: they share a cache line.
  bool attached = false, silent = false;
  /// Whether the agent edits IR now, see Editing.
  bool edits = false;
  /// Whether recorded actions may be skipped.
  bool hasRules = false;

public:
  OperationNames names;
  Position position;
  Observer observer;
  Frame *&innermost = observer.innermost;

  Connection connection;
  StopLoop stops{*this, connection, observer, position};
  BreakpointHits breakpoints{observer, stops};
  Skips skips;
  /// What this fork does otherwise than the tool; null in the tool.
  std::unique_ptr<Alternative> alternative;
  /// The number of patterns applied so far; unlike statistics, always counted.
  uint64_t applied = 0;
  EditPlan editPlan;
  ActionVerifier verifier;
  ErasedUnits erasedUnits{observer};
  KnownNames knownNames;
  Legalizations legalizations;
  RunTrace trace;
  Forks forks{connection};
  EndReport end{*this};
  Turns turns{*this};

  /// Counts every action, requested or not, and compares the IR around passes.
  bool counts = false;
  /// The latest finished pass, and its operation.
  Culprit lastPass;
  OperationHandle lastPassOn;
  /// The first error since the verifier started, if its failure is caught, and
  /// its operation.
  std::string firstError;
  OperationHandle firstErrorOn;
  Diagnosed diagnosed;
  bool wantsThreads = false;

  /// How many iterations this thread's innermost greedy driver has begun.
  static unsigned &iterations() { return local.iterations; }

private:
  friend class Turn;
  friend class Turns;
  friend class Silence;
  friend class Editing;
  static Engine &make();
  static bool joinOpenPart();
  /// Whether a part of the program is recorded now.
  static bool isInPart;
  void attributeToFirst(const Frame &frame);
  /// Numbers the operations of an outermost action that were made unobserved:
  /// before the fork, or before the program's recording.
  void meet(Operation *op);
  /// Records what an outermost action begins.
  void enterOutermost(Frame &frame, Operation *op);
  void observe();
  void record();
  /// Called in a fork that the agent made, once it is connected.
  void join();
  void makeCheckpoint();
  /// Whether the tool may stop.
  bool mayStop() const {
    return Connection::arrived || !breakpoints.empty() || skips.isSet() ||
           stops.resumption.mayStop() || verifier.isOn || !editPlan.empty();
  }
  /// Whether the changes themselves may be requested when an action is over; a
  /// stop before an action does not show them.
  bool needsChanges() const {
    return breakpoints.needsChanges() || stops.resumption.mayStop() ||
           verifier.isOn;
  }
  /// Returns false if the action is skipped without a trace.
  bool begin(Frame &frame);
  void finish(Frame &frame);
  void recordBegin(Frame &frame);
  void before(Frame &frame);
  void after(Frame &frame);
  /// Whether events between two actions have to be checked.
  bool looksBetween() const {
    return verifier.isOn || !observer.watches.empty();
  }
  /// Applies the edits of this event; the notice reports one that fails.
  void edit(Notice &notice);
  void between(Frame &frame, Notice &notice);
  /// `notice`: events before the action, if any.
  void stopBefore(Frame &frame, Notice &notice);
  void stopAfter(Frame &frame);
  /// Determines what to observe while the action runs.
  void planObservation(Frame &frame);
  void verify(Frame &frame, Notice &notice);

  /// The number of threads observed so far.
  static std::atomic<unsigned> threads;
  /// The state of one thread.
  struct ThreadState {
    Engine *engine = nullptr;
    /// Whether this thread's actions and changes are observed: always, or
    /// during its turns. The thread that made the first context is observed
    /// outside of actions, too, until another one runs actions.
    bool isFollowed = false;
    /// Whether this thread is inside an action that is followed, or one that
    /// is only counted.
    bool isInside = false, isPassing = false;
    /// The thread's turn, also one that is only counted.
    Turn *turn = nullptr;
    /// The number of the part that the thread joined last.
    unsigned part = 0;
    /// Those that the innermost greedy driver has begun.
    unsigned iterations = 0;
  };
  // Not thread_local: a translation unit without the definition would call an
  // initializer at each use.
  static __thread ThreadState local;

  std::unique_ptr<Recorder> recorder;
  pid_t pid = 0;
};

inline void Engine::enter(Frame &frame, NameFacts *folded) {
  AgentHeap agentHeap;
  // Read before the frame escapes: callers know the value, and the compiler
  // would reload it.
  Kind kind = frame.kind;
  Operation *op = frame.firstOp();
  Frame *parent = observer.innermost;
  frame.parent = parent;
  frame.ordinal = ++position.ordinal;
  frame.wantsReasons = true;
  if (LLVM_LIKELY(parent)) {
    frame.depth = parent->depth + 1;
    frame.conversion = parent->isConversion() ? parent : parent->conversion;
  } else {
    enterOutermost(frame, op);
  }
  // Operations that other threads created so far are not this pass's. With a
  // single thread, operation ids are the same as when debugging.
  if (LLVM_UNLIKELY(kind == Kind::Pass) && threads > 1)
    ids.renew();
  frame.tally.firstId = ids.upcoming();
  observer.innermost = &frame;
  observer.forgetFold();
  if (LLVM_UNLIKELY(kind == Kind::Pass || kind == Kind::Step ||
                    PatternChecks::areOn))
    observer.begin(frame, /*isCounted=*/false);
  if (LLVM_LIKELY(observer.recorder))
    observer.recorder->begin(frame, kind, op, folded);
}

inline void Engine::exit(Frame &frame) {
  int64_t now = Observer::now();
  AgentHeap agentHeap;
  frame.over = true;
  if (LLVM_UNLIKELY(!frame.isFailedAttempt() || PatternChecks::areOn))
    observer.end(frame, /*isCounted=*/false);
  if (LLVM_LIKELY(observer.recorder))
    observer.recorder->end(frame, now);
  observer.leave(frame);
  if (LLVM_UNLIKELY(!frame.parent) && this != &first())
    attributeToFirst(frame);
}

/// Suspends observation of this thread while the agent itself runs MLIR code.
class Silence {
public:
  Silence() : Silence(true) {}
  ~Silence() { engine.silent = outer; }

protected:
  explicit Silence(bool is)
      : engine(Engine::get()), outer(std::exchange(engine.silent, is)) {}

private:
  Engine &engine;
  bool outer;
};

/// Observes this thread within a Silence: actions that a request runs.
struct Attention : Silence {
  Attention() : Silence(false) {}
};

/// Attributes changes to no action while the agent edits IR: operations get
/// ids and lose them, and passes that run dispatch no actions.
class Editing {
public:
  Editing()
      : engine(Engine::get()),
        innermost(std::exchange(engine.innermost, nullptr)) {
    engine.edits = true;
  }
  ~Editing() {
    engine.edits = false;
    engine.innermost = innermost;
    engine.observer.edited();
  }

private:
  Silence silence;
  Engine &engine;
  Frame *innermost;
};

} // namespace adbg
