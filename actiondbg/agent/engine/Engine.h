//===- Engine.h - The stream of actions -------------------------*- C++ -*-===//

#ifndef ACTIONDBG_ENGINE_H
#define ACTIONDBG_ENGINE_H

#include "engine/EndReport.h"
#include "engine/HitLog.h"
#include "engine/Position.h"
#include "engine/StopLoop.h"
#include "fork/Forks.h"
#include "match/BreakpointHits.h"
#include "match/Skips.h"
#include "observe/ActionVerifier.h"
#include "observe/KnownNames.h"
#include "observe/LostUnits.h"
#include "record/Recorder.h"
#include "record/UpstreamLog.h"
#include "support/Traits.h"
#include <unistd.h>

namespace adbg {

/// Dispatches the actions of one process, in the thread that made its first
/// context: those of other threads pass unseen. When they are recorded, each
/// thread has an engine of its own.
class Engine {
public:
  static Engine &get() {
    return LLVM_LIKELY(here.engine) ? *here.engine : make();
  }
  /// The same in the handler of a signal: none is made.
  static Engine &known() { return here.engine ? *here.engine : first(); }
  /// That of the thread that made the first context.
  static Engine &first();

  /// Records the actions of all threads from now on, and stops at none; returns
  /// whether the files can be written.
  static bool startObserving(const RecordOrder &order, bool isThreaded);
  /// Actions are recorded, and nothing stops.
  bool isObserving = false;
  /// Its thread ends.
  void leaveThread();

  /// Connects, sends hello and serves the first requests. Called once, when the
  /// tool makes its first context, if the agent was asked to attach.
  void attach(const std::string &socket);
  /// In a fork of the tool that is not ours: has no effect any more.
  void abandon();
  bool isAttached() const { return attached; }
  /// Whether the front end hears of this process.
  bool isConnected() const { return getpid() == pid && connection.isOpen(); }
  /// Whether this thread's actions are followed now.
  bool follows() const { return attached && here.isHome && !silent; }
  /// What MLIR does now is the agent's doing, see Silence.
  bool isSilent() const { return silent; }

  /// Runs `frame`'s action, unless it is skipped, stopping as asked.
  void dispatch(Frame &frame, llvm::function_ref<void()> run);
  /// Begins and ends an action that is recorded, and runs anyway. Inlined into
  /// their callers, where its kind is a constant.
  /// `folded`: of the operation's name, if it is its fold.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void enter(Frame &frame,
                                          NameFacts *folded = nullptr);
  LLVM_ATTRIBUTE_ALWAYS_INLINE void exit(Frame &frame);
  /// Whether no pattern is applied any more, wherever it is.
  bool leavesOutPatterns() const {
    return skips.plan && !mayStop() &&
           skips.plan->leavesOutAll(innermost, position.ordinal);
  }

  /// An operation is about to be destroyed, or is replaced.
  void erased(mlir::Operation *op) { lostUnits.erased(op); }
  void replaced(mlir::Operation *op, mlir::ValueRange by,
                bool isGuess = false) {
    lostUnits.replaced(op, by);
    observer.replaced(op, by, isGuess);
  }
  bool hasFrames() const { return innermost != nullptr; }

  /// Something happens inside the innermost action that can be caught. `text`
  /// is its message, and is matched with globs.
  void caught(CatchKind kind, llvm::StringRef text,
              std::optional<Culprit> culprit = std::nullopt);
  /// Why an action did not match, or failed.
  void reason(Frame &frame, llvm::StringRef text) {
    if (LLVM_LIKELY(observer.recorder))
      observer.recorder->reason(frame, text);
    else
      frame.needRare().reasons.push_back(text.str());
  }
  void reason(Frame &frame, const mlir::Diagnostic &diagnostic);
  /// Stops inside the action. Called in the handler of a signal.
  void stopInside();
  /// Forks this process; returns 0 in the child, which is at the same stop.
  pid_t fork(const ForkOrder &order) {
    return forks.fork(order, [this] { join(); });
  }

private:
  // Read with each action: they share a line of the cache.
  bool attached = false, silent = false;

public:
  OperationNames names;
  Position position;
  Observer observer;
  Frame *&innermost = observer.innermost;

  Connection connection;
  StopLoop stops{*this, connection, observer, position};
  HitLog hitLog{stops};
  BreakpointHits breakpoints{observer, hitLog};
  Skips skips;
  ActionVerifier verifier;
  LostUnits lostUnits{observer};
  KnownNames knownNames;
  Forks forks{connection};
  EndReport end{*this};

  /// Everything is counted, whether a request asks for it or not, and passes
  /// are compared.
  bool counts = false;
  /// The newest pass that is over.
  Culprit lastPass;
  /// The first error since the verifier began, if its failure is caught.
  std::string firstError;
  unsigned contexts = 0;
  bool askedForThreads = false;

private:
  friend class Silence;
  static Engine &make();
  void tellFirst(const Frame &frame);
  void observe();
  /// In a fork that is ours and is connected.
  void join();
  void makeCheckpoint();
  /// Whether a stop may follow.
  bool mayStop() const {
    return Connection::arrived || !breakpoints.empty() || skips.hasOrdinals() ||
           stops.resumption.mayStop() || verifier.isOn;
  }
  /// Whether the changes themselves may be asked for when an action is over; a
  /// stop before one does not ask for them.
  bool needsChanges() const {
    return breakpoints.needsChanges() || stops.resumption.mayStop() ||
           verifier.isOn;
  }
  void before(Frame &frame);
  void after(Frame &frame);
  /// Whether what happened between two actions has to be looked at.
  bool looksBetween() const {
    return verifier.isOn || !observer.watches.empty();
  }
  void between(Frame &frame, Notice &notice);
  /// `notice`: of what happened before the action, if anything did.
  void stopBefore(Frame &frame, Notice &notice);
  void stopAfter(Frame &frame);
  void stop(Frame &frame, const Notice &notice);
  /// Finds out what has to be observed while the action runs.
  void lookAhead(Frame &frame);
  void verify(Frame &frame, Notice &notice);

  /// How many threads were observed so far.
  static std::atomic<unsigned> threads;
  /// What a thread has at hand.
  struct Here {
    Engine *engine = nullptr;
    /// This thread is one that is followed.
    bool isHome = false;
  };
  // Not thread_local: a unit without its definition would call an
  // initializer at each use.
  static __thread Here here;

  std::unique_ptr<Recorder> recorder;
  pid_t pid = 0;
};

inline void Engine::enter(Frame &frame, NameFacts *folded) {
  // Taken before the frame is where all can see it: callers know much of this,
  // and it would be read from memory again.
  Kind kind = frame.kind;
  mlir::Operation *op =
      LLVM_LIKELY(!frame.units.empty()) ? holderOf(frame.units[0]) : nullptr;
  Frame *parent = observer.innermost;
  frame.parent = parent;
  frame.ordinal = ++position.ordinal;
  frame.wantsReasons = true;
  if (LLVM_LIKELY(parent)) {
    frame.depth = parent->depth + 1;
    frame.conversion = parent->isConversion() ? parent : parent->conversion;
  }
  // What other threads have made until now is not made by this pass. Of one
  // thread alone, all operations are numbered as when it is debugged.
  if (LLVM_UNLIKELY(kind == Kind::Pass) && threads > 1)
    observer.ids.renew();
  frame.tally.firstId = observer.ids.upcoming();
  observer.innermost = &frame;
  observer.forgetFold();
  if (LLVM_UNLIKELY(kind == Kind::Pass))
    observer.begin(frame, /*isCounted=*/false);
  if (LLVM_LIKELY(observer.recorder))
    observer.recorder->begin(frame, kind, op, folded);
}

inline void Engine::exit(Frame &frame) {
  int64_t now = Observer::now();
  frame.over = true;
  if (LLVM_UNLIKELY(!frame.isFailedAttempt()))
    observer.end(frame, /*isCounted=*/false);
  if (LLVM_LIKELY(observer.recorder))
    observer.recorder->end(frame, now);
  observer.leave(frame);
  if (LLVM_UNLIKELY(!frame.parent) && this != &first())
    tellFirst(frame);
}

/// While it lives, what the agent has MLIR do in this thread is not followed.
class Silence {
public:
  Silence()
      : engine(Engine::get()), outer(std::exchange(engine.silent, true)) {}
  ~Silence() { engine.silent = outer; }

private:
  Engine &engine;
  bool outer;
};

} // namespace adbg

#endif // ACTIONDBG_ENGINE_H
