//===- Observer.h - Changes to the IR and their actions ---------*- C++ -*-===//

#pragma once

#include "match/Breakpoint.h"
#include "observe/PatternChecks.h"
#include "observe/PatternNames.h"
#include "observe/Statistics.h"

namespace adbg {

class Recorder;

/// The action that caused an event.
struct Culprit {
  uint64_t ordinal = 0;
  std::string tag, name;
  bool guess = false;

  static Culprit of(const Frame &frame) {
    return {frame.ordinal, frame.tag().str(), frame.name()};
  }
};

/// Optional details of a change.
struct Detail {
  bool isBlock = false, isGuess = false;
  /// Valid only during the call.
  ArrayRef<ValueName> by = {};
};

/// Observes all changes to operations and blocks and attributes them to the
/// running action. Called by the interposed functions; must be fast.
class Observer {
public:
  // Changes to the IR.
  void created(Operation *op);
  void placed(Operation *op);
  void destroyed(Operation *op);
  /// `from`: the region in which it was; null for none.
  void moved(Operation *op, Region *from);
  void replaced(Operation *op, ValueRange by, bool isGuess);
  /// Returns the operation by which the CSE pass replaces `op`, if that pass is
  /// the innermost action; otherwise null.
  Operation *cseReplacement(Operation *op) const;
  void cloned(Operation *from, Operation *to);
  /// A block of `from` was copied or moved to `block`.
  void tookBody(Block *block, Operation *from);
  void modified(Operation *op);
  void blockChanged(Block *block, ChangeKind kind);
  /// A block of `from`, which may be null, was moved to another region.
  void blockMoved(Block *block, Operation *from);
  void diagnosed();
  /// The agent itself has changed the IR.
  void edited() {
    digested = nullptr;
    forgetFold();
  }

  // The life of an action.
  /// `isCounted`: the action is added to the statistics, and a pass is checked
  /// for modifications without a notification.
  void begin(Frame &frame, bool isCounted);
  /// Called right after the action ran.
  void end(Frame &frame, bool isCounted);
  /// Called when the action leaves the stack.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void leave(Frame &frame) {
    innermost = frame.parent;
    if (LLVM_UNLIKELY(!frame.parent))
      leaveOutermost();
    else if (LLVM_UNLIKELY(frame.tally.isTouched))
      addToParent(frame);
  }
  void addToParent(const Frame &frame) {
    Tally &outer = frame.parent->tally;
    outer.isTouched = true;
    for (unsigned kind = 0; kind < changeKinds; ++kind)
      outer.counts[kind] += frame.tally.counts[kind];
    if (frame.returned != Returned::RolledBack)
      outer.net += frame.tally.net;
  }
  /// Ends the previous fold: after the next dispatch, its caller's changes no
  /// longer belong to it.
  void forgetFold() {
    fold.ordinal = 0;
    fold.pending = false;
  }

  /// The action that changes made now are attributed to, outside of nested
  /// actions.
  Culprit culpritNow() const;

  /// Sets the watches that are notified. `breakpoints` owns them.
  void watch(std::vector<Breakpoint> &breakpoints);

private:
  /// A fold with a result, which its caller applies right after it.
  struct LastFold {
    uint64_t ordinal = 0;
    uint32_t id = 0;
    StringRef name;
    const Frame *caller = nullptr;
    bool pending = false;
  };
  LastFold fold;

public:
  Frame *innermost = nullptr;
  /// The recorder; null if nothing is recorded.
  Recorder *recorder = nullptr;
  ChangeLog log;
  /// Changes are stored, not only counted: they may be requested.
  bool isDetailed = false;
  /// Changes are counted exactly.
  bool isTallied = false;
  Statistics statistics;
  /// Actions missing from the statistics because counting was off.
  uint64_t uncounted = 0;
  std::vector<Breakpoint *> watches;
  PatternChecks checks;
  /// Time spent at stops, attributed to no action, in ticks.
  int64_t stopTime = 0;

  /// The time in ticks of a clock that is nearly free to read.
  static int64_t now();
  double secondsOf(int64_t ticks) const;
  /// Nanoseconds since the agent attached, without the time at stops.
  int64_t ranFor() const;
  ValueName nameOf(Value value) const;

private:
  /// Watches are rare: notifying them is kept out of line.
  template <typename Notify>
  LLVM_ATTRIBUTE_ALWAYS_INLINE void notifyWatches(Notify notify) const {
    if (LLVM_UNLIKELY(!watches.empty()))
      notifyEach(notify);
  }
  template <typename Notify>
  LLVM_ATTRIBUTE_NOINLINE void notifyEach(Notify notify) const {
    for (Breakpoint *one : watches)
      notify(*one->watch);
  }
  void add(ChangeKind kind, Operation *op, uint32_t id, bool isNew,
           const Detail &detail = plain);
  /// Whether the innermost action created the operation.
  bool isOfThisAction(uint32_t id) const {
    return id >= innermost->tally.firstId;
  }
  bool needsReplacements() const { return isDetailed || recorder; }
  /// Whether operations may be described in a recording. Before the first
  /// action none are, and the IR must not be walked: its layout is unknown.
  bool hasDescribed() const;
  bool isLast(ChangeKind kind, uint32_t id) const;
  void countOnly(ChangeKind kind);
  /// Whether a change is to be added: an action makes it, and it is not only
  /// counted, as it is here otherwise.
  bool isTalliedNow(ChangeKind kind) {
    if (innermost && !isTallied)
      countOnly(kind);
    return innermost && isTallied;
  }
  static const Detail plain;
  bool isFollowUp() const { return fold.pending && fold.caller == innermost; }
  /// The ordinal of the action that changes are attributed to now.
  uint64_t ordinalNow() const {
    return isFollowUp() ? fold.ordinal : innermost->ordinal;
  }
  /// Records what an operation that was placed is made of.
  void recordOrigin(Operation *op, uint32_t id);
  /// Records which new operations took the uses of erased ones.
  void recordHeirs(const Frame &frame);
  /// Whether the lineage is recorded.
  bool followsLineage() const;
  void settle() {
    if (LLVM_UNLIKELY(recorder != nullptr))
      provenance.settle(*recorder);
  }
  void findUnreported(Frame &frame);
  void leaveOutermost();
  void returnOf(Frame &frame);
  void count(Frame &frame);

  static int64_t nanoseconds();

  int64_t started = now(), startedNanoseconds = nanoseconds();
  struct LastChange {
    ChangeKind kind = ChangeKind::Inserted;
    bool isBlock = false;
    uint32_t id = 0;
    uint64_t ordinal = 0;
  };

  LastChange last;
  Provenance provenance;
  /// Whether the recorder described the operation that is being destroyed.
  bool wasDescribed = false;
  /// The digest after the latest pass, which is that before the next one.
  Operation *digested = nullptr;
  uint64_t digestOfIt = 0, digestedAt = 0;
};

/// Records which IR units of the running actions are erased, and by what they
/// are replaced: erased units must not be read.
class ErasedUnits {
public:
  explicit ErasedUnits(Observer &observer) : observer(observer) {}

  /// Follows the units of passes only: without stops no others are needed, and
  /// these have regions.
  void followPassesOnly() { passesOnly = true; }

  void erased(Operation *op) {
    if (mayBeUnit(op))
      noteErased(op);
  }
  void replaced(Operation *op, ValueRange by) {
    if (mayBeUnit(op))
      noteReplaced(op, by);
  }

private:
  bool mayBeUnit(Operation *op) const {
    return !passesOnly || op->getNumRegions() != 0;
  }
  bool tracks(const Frame &frame) const {
    return !passesOnly || frame.kind == Kind::Pass;
  }
  void noteErased(Operation *op);
  void noteReplaced(Operation *op, ValueRange by);
  ErasedUnit describe(size_t unit, Operation *op) const;

  Observer &observer;
  bool passesOnly = false;
};

} // namespace adbg
