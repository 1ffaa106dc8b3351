//===- Engine.h - The stream of actions and where it stops ------*- C++ -*-===//

#ifndef ACTIONDBG_ENGINE_H
#define ACTIONDBG_ENGINE_H

#include "fork/Checkpoints.h"
#include "fork/ForkOrder.h"
#include "match/Plan.h"
#include "observe/Observer.h"
#include "record/Recorder.h"
#include "record/UpstreamLog.h"
#include "support/Connection.h"
#include "support/Traits.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>
#include <unistd.h>

namespace adbg {

enum class Control : uint8_t { Continue, Apply, Skip, Step, Next, Finish };

/// What the front end answered at a stop, and how far it has been followed.
struct Resumption {
  Control control = Control::Continue;
  uint64_t count = 1;
  /// Depth of the action at which it was answered, and on which side of it.
  unsigned depth = 0;
  bool wasOver = false;
  /// Nothing was dispatched before: the very first stop is a start.
  bool fromStart = false;
  std::optional<Spec> until;
  bool within = false;
  /// `until` is for the end of an action, with this outcome if there is one.
  bool after = false;
  std::optional<OutcomeFilter> outcome;
  bool own = false;
  /// Not 0: hits before that event are no stops, and the newest are kept.
  uint64_t event = 0, keep = 0;
};

/// A hit that was no stop: at an event, or so many stops after it, in the
/// middle of an action.
struct Passed {
  uint64_t event = 0, during = 0;
};

/// What is told of a stop beside where it is.
struct Notice {
  llvm::StringRef reason;
  llvm::SmallVector<int, 4> hit;
  std::string message;
  std::optional<Culprit> culprit;
};

/// Follows the actions of one process, in the thread that made its first
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

  /// Writes down the actions of all threads from now on, stopping at none;
  /// returns whether what is written can be.
  static bool startObserving(const RecordOrder &order, bool isThreaded);
  /// Actions are written down, and nothing stops.
  bool isObserving = false;
  /// Its thread ends.
  void leaveThread();

  /// Connects, says hello and serves the first requests. Called once, when the
  /// tool makes its first context, if the agent was asked to attach.
  void attach(const std::string &socket);
  /// Whether this thread's actions are followed now.
  bool follows() const { return attached && ownsThread() && !serving; }

  /// Runs `frame`'s action, unless it is skipped, stopping as asked.
  void dispatch(Frame &frame, llvm::function_ref<void()> run);
  /// Begins and ends an action that is observed, and runs anyway. In their
  /// callers, which know of which kind it is.
  /// `folded`: of the operation's name, if it is its fold.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void enter(Frame &frame,
                                          NameFacts *folded = nullptr);
  LLVM_ATTRIBUTE_ALWAYS_INLINE void exit(Frame &frame);
  /// Whether no pattern is applied any more, wherever it is.
  bool leavesOutPatterns() const {
    return plan && !mayStop() && plan->leavesOutAll(innermost, ordinal);
  }

  /// An operation is about to be destroyed, or is replaced.
  void erased(mlir::Operation *op) {
    if (mayBeUnit(op))
      loseUnit(op);
  }
  void replaced(mlir::Operation *op, mlir::ValueRange by, bool isGuess = false);
  bool hasFrames() const { return innermost != nullptr; }

  /// Something that can be caught happens inside the innermost action. `text`
  /// says what, and is what globs are matched with.
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
  bool catches(CatchKind kind) const {
    return catching & (1u << static_cast<unsigned>(kind));
  }
  /// An interrupt that is to be obeyed inside the action. In a signal handler.
  void stopInside();

private:
  // What is looked at with each action stands together.
  bool attached = false, serving = false;

public:
  OperationNames names;
  uint64_t ordinal = 0;
  // What requests work on; valid while the tool is stopped.
  Observer observer;
  Frame *&innermost = observer.innermost;
  Frame *selected = nullptr;
  mlir::IRUnit cursor;
  std::vector<Breakpoint> breakpoints;
  /// To be called when the breakpoints have changed.
  void breakpointsChanged();
  Resumption resumption;
  /// The stop is inside of the innermost action.
  bool inside = false;
  bool verifiesEach = false;
  /// All is counted, whether somebody may ask or not, and passes are compared.
  bool counts = false;
  /// The first error since the verifier began, if its failure is caught.
  std::string firstError;
  /// How often an action began or ended.
  uint64_t event = 0;
  std::deque<Passed> passed;
  Role role = Role::Tool;
  /// Where it stands, or is before; null at the beginning, and in a checkpoint
  /// that the tool made while it ran.
  const Frame *standing = nullptr;
  /// The tool is stopped before the innermost action.
  bool isBeforeInnermost() const {
    return standing && standing == innermost && !innermost->over && !inside;
  }
  Files files;
  Checkpoints checkpoints;
  std::unique_ptr<Plan> plan;
  volatile int crashSignal = 0, exitStatus = 0;
  /// What was skipped, and what is to be skipped, in order.
  std::vector<uint64_t> skipped, toSkip;
  std::unique_ptr<llvm::raw_fd_ostream> log;
  /// The newest pass that is over.
  Culprit lastPass;
  unsigned contexts = 0;
  bool askedForThreads = false;
  llvm::StringSet<> patternNames, passNames;
  /// How many actions there were of each tag that is not a common one.
  llvm::StringMap<uint64_t> tags;

  Frame *frameAt(int64_t index) const;
  /// Puts the cursor on the selected frame's operation.
  void resetCursor();
  void sendCrash();
  void sendExit();
  /// In a fork of the tool that is not ours: be as if not there.
  void abandon();
  /// Resumes the tool from its stop.
  void go(Resumption next);
  /// Forks this process; returns 0 in the child, which stands at the same stop.
  pid_t forkFor(const ForkOrder &order);
  llvm::json::Array describePassed() const;

private:
  friend class Silence;
  static Engine &make();
  bool ownsThread() const { return here.isHome; }
  void tellFirst(const Frame &frame);
  /// Where nothing stops, nobody asks for the units of actions that run, but
  /// for those of passes; and these have regions.
  bool mayBeUnit(mlir::Operation *op) const {
    return !isObserving || op->getNumRegions() != 0;
  }
  bool mayLoseUnits(const Frame &frame) const {
    return !isObserving || frame.kind == Kind::Pass;
  }
  void loseUnit(mlir::Operation *op);
  void observe();
  /// Makes a checkpoint if it is time.
  void look();
  void becomeFork(const ForkOrder &order);
  /// In a fork that is ours: connect anew, and stand at the same stop.
  void rejoin(const std::string &socket);
  /// Nanoseconds that it ran, without the time at stops.
  int64_t runTime() const;
  void number(Frame &frame);
  /// A hit is no stop, as the way leads further.
  bool passes() const { return resumption.event > event; }
  void pass(bool isInside);
  /// Whether a stop may follow.
  bool mayStop() const {
    return Connection::arrived || !breakpoints.empty() || !toSkip.empty() ||
           resumption.control >= Control::Step || resumption.until ||
           resumption.event || verifiesEach;
  }
  bool mayAct() const { return mayStop() || plan; }
  /// Whether the changes themselves may be asked for when an action is over; a
  /// stop before one is no such thing.
  bool mayTell() const {
    return tellsChanges || resumption.control >= Control::Step ||
           resumption.until || resumption.event || verifiesEach;
  }
  void before(Frame &frame);
  void after(Frame &frame);
  /// Whether what happened between two actions has to be looked at.
  bool looksBetween() const {
    return verifiesEach || !observer.watches.empty();
  }
  void between(Frame &frame, Notice &notice);
  /// `notice`: of what happened before the action, if anything did.
  void stopBefore(Frame &frame, Notice &notice);
  void stopAfter(Frame &frame);
  bool interrupted();
  void hitBefore(Frame &frame, llvm::ArrayRef<Breakpoint *> candidate,
                 Notice &notice);
  void hitAfter(Frame &frame, Notice &notice);
  void hitWatches(Frame &frame, Notice &notice);
  /// Counts a hit, and notes or logs it.
  void hit(Breakpoint &one, Frame &frame, Notice &notice);
  /// Finds the breakpoints for the end of an action that were set since.
  void hitLater(Frame &frame);
  void lookAhead(Frame &frame);
  void verifyAfter(Frame &frame, Notice &notice);
  void checkConvergence(Frame &frame);
  /// Whether the count of the resumption is used up by this event.
  bool usesUp(const Frame &frame, bool over);
  void stop(Frame &frame, Notice notice);
  void aimAgain(Frame &frame);
  void serve();

  /// How many threads were observed so far.
  static std::atomic<unsigned> threads;
  /// What a thread has at hand.
  struct Here {
    Engine *engine = nullptr;
    /// This thread is one that is followed.
    bool isHome = false;
  };
  static thread_local Here here;

  std::unique_ptr<Recorder> recorder;
  Connection connection;
  Candidates candidates;
  unsigned catching = 0, breakpointsVersion = 0;
  /// A breakpoint is about the end of actions, or about operations.
  bool tellsChanges = false;
  /// In a fork that has not gone on since, and shares its files.
  bool isFrozen = false;
  /// The stop was left by a resume.
  bool resumed = false;
  uint64_t patterns = 0, folds = 0, passActions = 0, insideHits = 0;
  bool isBroken = false;
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
  frame.ordinal = ++ordinal;
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
  Silence() : outer(std::exchange(Engine::get().serving, true)) {}
  ~Silence() { Engine::get().serving = outer; }

private:
  bool outer;
};

} // namespace adbg

#endif // ACTIONDBG_ENGINE_H
