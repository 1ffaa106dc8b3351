//===- StopLoop.h - Stops of the tool ---------------------------*- C++ -*-===//

#pragma once

#include "observe/Observer.h"
#include "support/Connection.h"
#include "support/OwnFiles.h"

namespace adbg {

struct Position {
  /// The ordinal of the latest action.
  uint64_t ordinal = 0;
  /// The number of events so far.
  uint64_t event = 0;
};

/// The report of a stop, without its position.
struct Notice {
  StringRef reason;
  /// The breakpoints that were hit.
  std::vector<int> hit;
  std::string message;
  std::optional<Culprit> culprit;
  /// Whether breakpoints, watches or catches are all that stops: such stops are
  /// counted.
  bool isHit() const {
    return !hit.empty() && reason != "verify" && reason != "interrupt";
  }
  /// The operation that the message is about; null if it is unknown.
  Operation *about = nullptr;
};

/// The end of a resumption: an action that matches.
struct Until {
  Spec spec;
  /// It ends with the surrounding action, too.
  bool within = false;
  /// It waits for the end of the action, with this outcome if there is one.
  bool after = false;
  std::optional<OutcomeFilter> outcome;
  /// `outcome` ignores changes of nested actions.
  bool own = false;

  static Until parse(Fields &fields);
};

enum class Control : uint8_t { Continue, Apply, Skip, Step, Next, Finish };

/// The control that resumed the tool, and its progress.
struct Resumption {
  Control control = Control::Continue;
  uint64_t count = 1;
  /// Depth of the stopped action, and whether the stop was after it.
  unsigned depth = 0;
  bool wasOver = false;
  /// The tool was resumed before its first action.
  bool fromStart = false;
  std::optional<Until> until;
  /// The event to stop at, if not 0: earlier hits do not stop, and the latest
  /// `keep` of them are stored.
  uint64_t event = 0, keep = 0;

  bool isStepping() const { return control >= Control::Step; }
  /// Whether `until` waits for the end of an action that it matches.
  bool isForEnds() const {
    return until &&
           (until->after || until->outcome || until->spec.isAboutOutcome());
  }
  /// Whether the tool may stop without a breakpoint.
  bool mayStop() const { return isStepping() || until || event; }
  /// Whether the tool may stop at the end of this action, by its depth.
  bool stepsOver(const Frame &frame) const {
    return control == Control::Step ||
           (control == Control::Next && frame.depth <= depth) ||
           (control == Control::Finish && frame.depth < depth);
  }
  /// Counts an event of an action; returns whether the count is used up.
  bool usesUp(const Frame &frame, bool over);
  /// Counts a hit for continue, apply and skip with a count; returns whether to
  /// pass it without a stop.
  bool passesHit() {
    if (isStepping() || count <= 1)
      return false;
    --count;
    return true;
  }
  /// The reason reported for a stop of this control.
  StringRef reason() const;
};

class Engine;

/// Why the cursor is on a unit: it is the action's own, replaced it, was
/// inserted for it, is that of an action around it, or fails.
enum class CursorBy : uint8_t { Action, Replaced, Inserted, Around, Failing };
StringRef textOf(CursorBy by);

/// Stops the tool: reports the stop and answers requests until one of them
/// resumes it.
class StopLoop {
public:
  StopLoop(Engine &engine, Connection &connection, Observer &observer,
           const Position &position)
      : engine(engine), connection(connection), observer(observer),
        position(position) {}

  Resumption resumption;

  // Valid while the tool is stopped.
  /// The selected action.
  Frame *selected = nullptr;
  /// The IR unit in view.
  IRUnit cursor;
  /// How the cursor got to its unit at the stop.
  CursorBy cursorBy = CursorBy::Action;
  /// The stop is inside the innermost action.
  bool inside = false;
  /// It is at any instruction of the tool, which may have locked something, or
  /// be in the middle of a change: what reads IR is tried in a fork first.
  bool isForced = false;
  /// The action of the stop; null at the beginning of the run, and in an
  /// automatic checkpoint.
  const Frame *stoppedAt = nullptr;

  /// Returns when the tool is resumed; `frame` may be marked as skipped by
  /// then.
  void stop(Frame &frame, const Notice &notice);
  /// Answers requests until one of them resumes the tool.
  void serve();
  /// Replaces the targets of the previous resumption, and notes new
  /// breakpoints. The end of a running action may be a target, or a hit.
  void setTargets(Frame *innermost);
  /// Ends `serve`.
  void resume(Resumption next);

  bool isBeforeInnermost() const {
    const Frame *frame = observer.innermost;
    return stoppedAt && stoppedAt == frame && !frame->over && !inside;
  }
  /// Returns an action of the stack, 0 being the innermost; null if the index
  /// is too large.
  Frame *frameAt(int64_t index) const;
  void select(Frame *frame) {
    selected = frame;
    resetCursor();
  }
  /// Puts the cursor on an operation that fails, if there is one.
  void showFailing();
  /// Puts the cursor on the IR of the selected action.
  void resetCursor();
  void clearSelection() {
    selected = nullptr;
    cursor = IRUnit();
    failing = OperationHandle();
  }
  /// Describes a stop. `mostChanges`: the most changes to describe.
  Object describe(const Frame &frame, const Notice &notice,
                  uint64_t mostChanges) const;
  /// The log file of breakpoints that log their hits instead of stopping: one
  /// line of JSON a hit, with the fields of a stop and the time of the action.
  LogFile hitLog;
  /// Whether to describe what is around the operation of an action that has not
  /// begun.
  bool logsNeighbourhoods = false;
  /// Writes a hit into it, which takes no time of the actions. `withChanges`:
  /// describe the changes of the action, which takes longer than all the rest.
  void log(Frame &frame, const Notice &notice, bool withChanges);

  /// Reads messages that arrived while the tool ran, and refuses requests;
  /// returns whether there was an interrupt.
  bool isInterrupted() {
    return LLVM_UNLIKELY(Connection::arrived) && readInterrupt();
  }

  // Whether hits pass without a stop, on the way to an event.
  bool passesHits() const { return resumption.event > position.event; }
  void passHit();
  /// Called at the beginning of an event.
  void beginEvent() { hitsInside = 0; }
  Array describePassedHits() const;

private:
  /// The operation that the message of the stop, or of the failed action, is
  /// about.
  OperationHandle failing;
  Json describeCursorNow() const;
  /// A hit at an event, or inside the action after it; `during` counts the
  /// latter.
  struct PassedHit {
    uint64_t event = 0, during = 0;
  };
  bool readInterrupt();
  /// Selects the action of a stop, and describes it.
  Object arrive(Frame &frame, const Notice &notice);

  Engine &engine;
  Connection &connection;
  Observer &observer;
  const Position &position;
  bool isResumed = false;
  uint64_t hitsInside = 0;
  std::deque<PassedHit> passedHits;
};

} // namespace adbg
