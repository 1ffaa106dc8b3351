//===- Observer.h - What happens to the IR, and who did it ------*- C++ -*-===//

#ifndef ACTIONDBG_OBSERVER_H
#define ACTIONDBG_OBSERVER_H

#include "match/Breakpoint.h"
#include "observe/Statistics.h"

namespace adbg {

class Recorder;

/// Who did something.
struct Culprit {
  uint64_t ordinal = 0;
  std::string tag, name;
  bool guess = false;
};

/// What is said of some changes.
struct Detail {
  bool isBlock = false, isGuess = false;
  /// Valid while the change is told of.
  llvm::ArrayRef<ValueName> by = {};
};

/// Notes all that happens to operations and blocks, and gives it to the action
/// that runs. Called by the interposed functions; has to be fast.
class Observer {
public:
  // What happens to IR.
  void created(mlir::Operation *op);
  void placed(mlir::Operation *op);
  void destroyed(mlir::Operation *op);
  /// `isElsewhere`: another operation may hold it now.
  void moved(mlir::Operation *op, bool isElsewhere);
  void replaced(mlir::Operation *op, mlir::ValueRange by, bool isGuess);
  /// Returns what the CSE pass replaces `op` by, if that pass is the innermost
  /// action; null otherwise.
  mlir::Operation *cseReplacement(mlir::Operation *op) const;
  void modified(mlir::Operation *op);
  void blockChanged(mlir::Block *block, ChangeKind kind);
  void diagnosed();

  // The life of an action.
  /// `isCounted`: it goes into the statistics, and it is to be found out
  /// whether a pass modifies what nobody tells of.
  void begin(Frame &frame, bool isCounted);
  /// To be called right after it ran.
  void end(Frame &frame, bool isCounted);
  /// To be called when it leaves the stack.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void leave(Frame &frame) {
    innermost = frame.parent;
    if (LLVM_UNLIKELY(!frame.parent))
      leaveLast();
    else if (LLVM_UNLIKELY(frame.tally.isTouched))
      giveOn(frame);
  }
  void giveOn(const Frame &frame) {
    Tally &outer = frame.parent->tally;
    outer.isTouched = true;
    for (unsigned kind = 0; kind < changeKinds; ++kind)
      outer.counts[kind] += frame.tally.counts[kind];
    if (frame.returned != Returned::RolledBack)
      outer.net += frame.tally.net;
  }
  /// Another action is dispatched: what its caller does is no longer about the
  /// fold before.
  void forgetFold() { fold.ordinal = 0; }

  /// Who does what happens now, outside of nested actions.
  Culprit culpritNow() const;

  /// Begins and ends to tell watches. They belong to `breakpoints`.
  void watch(std::vector<Breakpoint> &breakpoints);

private:
  /// A fold that found something: its caller puts that in place right after.
  struct LastFold {
    uint64_t ordinal = 0;
    uint32_t id = 0;
    llvm::StringRef name;
    const Frame *caller = nullptr;
    bool pending = false;
  };
  LastFold fold;

public:
  Frame *innermost = nullptr;
  Identities &ids = Identities::all();
  /// Where all is written down; null if it is not.
  Recorder *recorder = nullptr;
  ChangeLog log;
  /// Somebody may ask for changes: they are held, not only counted.
  bool isDetailed = false;
  /// Changes are counted exactly.
  bool isTallied = false;
  Statistics statistics;
  /// Actions that are not in the statistics, as nobody had asked for them.
  uint64_t uncounted = 0;
  std::vector<Breakpoint *> watches;
  /// Time at stops, which is nobody's, in ticks.
  int64_t served = 0;

  /// The time, in ticks of a clock that costs next to nothing to read.
  static int64_t now();
  double secondsOf(int64_t ticks) const;
  /// Nanoseconds since the tool was attached to, without the time at stops.
  int64_t ranFor() const;
  ValueName nameOf(mlir::Value value) const;

private:
  /// Watches are mostly none: what tells them is out of the way.
  template <typename Tell>
  LLVM_ATTRIBUTE_ALWAYS_INLINE void tellWatches(Tell tell) const {
    if (LLVM_UNLIKELY(!watches.empty()))
      tellEach(tell);
  }
  template <typename Tell>
  LLVM_ATTRIBUTE_NOINLINE void tellEach(Tell tell) const {
    for (Breakpoint *one : watches)
      tell(*one->watch);
  }
  void add(ChangeKind kind, mlir::Operation *op, uint32_t id, bool isNew,
           const Detail &detail = plain);
  bool tellsBy() const { return isDetailed || recorder; }
  bool isLast(ChangeKind kind, uint32_t id) const;
  void pass(ChangeKind kind);
  static const Detail plain;
  bool isFollowUp() const { return fold.pending && fold.caller == innermost; }
  /// Of the action whose doing a change is now.
  uint64_t ordinalNow() const {
    return isFollowUp() ? fold.ordinal : innermost->ordinal;
  }
  void findUnnoticed(Frame &frame);
  void leaveLast();
  void returnOf(Frame &frame);
  void count(const Frame &frame);

  static int64_t nanoseconds();

  int64_t started = now(), startedNanoseconds = nanoseconds();
  struct LastChange {
    ChangeKind kind = ChangeKind::Inserted;
    bool isBlock = false;
    uint32_t id = 0;
    uint64_t ordinal = 0;
  };

  LastChange last;
  /// Of the operation that ends: whether the recorder knows it.
  bool wasDescribed = false;
  /// The digest after the newest pass, which is that before the next one.
  mlir::Operation *digested = nullptr;
  uint64_t digestOfIt = 0, digestedAt = 0;
};

} // namespace adbg

#endif // ACTIONDBG_OBSERVER_H
