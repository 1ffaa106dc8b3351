//===- BreakpointHits.h - Hits of breakpoints -------------------*- C++ -*-===//

#pragma once

#include "engine/StopLoop.h"

namespace adbg {

/// A breakpoint that may match, and its terms that the names leave open.
struct Candidate {
  Breakpoint *breakpoint;
  Spec::Terms open;
};

/// The breakpoints, watches and catches, and their hits. Each hit is counted,
/// and added to a notice or logged.
class BreakpointHits {
public:
  BreakpointHits(Observer &observer, StopLoop &stops)
      : observer(observer), stops(stops) {}

  /// Replaces all breakpoints. One that existed before, by its id, keeps its
  /// counts.
  void set(std::vector<Breakpoint> breakpoints);
  ArrayRef<Breakpoint> all() const { return breakpoints; }
  bool empty() const { return breakpoints.empty(); }
  /// How often each was hit.
  Array describe() const;

  bool catches(CatchKind kind) const {
    return catching & (1u << static_cast<unsigned>(kind));
  }
  bool catchesAny() const { return catching != 0; }
  /// Whether a breakpoint concerns the end of actions, or operations.
  bool needsChanges() const { return isAboutChanges; }
  /// Whether the outcome of an action needs its reasons.
  bool needReasons(const Frame &frame) const;

  /// Returns the breakpoints that may match an action, by its names.
  ArrayRef<Candidate> candidatesFor(const Frame &frame);
  /// Finds hits before an action, and notes the breakpoints that are evaluated
  /// at its end.
  void hitBefore(Frame &frame, ArrayRef<Candidate> candidates, Notice &notice);
  /// Notes the breakpoints for the ends of the running actions, the innermost
  /// and those around it, that were set, enabled or changed since this was
  /// called last. Called before the tool goes on.
  void findEnds(Frame *innermost);
  /// Finds hits after an action; returns whether there are any.
  bool hitAfter(Frame &frame, Notice &notice);
  void hitWatches(Frame &frame, Notice &notice);
  void hitCatches(const Event &event, Frame &frame, Notice &notice);

private:
  /// The breakpoints that may match by name, for a combination of tag, pattern
  /// name and operation name: most actions match none, which one lookup shows.
  struct Slot {
    const char *tag = nullptr;
    const char *name = nullptr;
    const char *op = nullptr;
    unsigned epoch = 0;
    std::vector<Candidate> found;
  };
  /// Counts a hit, and adds it to the notice, unless it is ignored or logged.
  void hit(Breakpoint &one, Frame &frame, Notice &notice);

  Observer &observer;
  StopLoop &stops;
  std::vector<Breakpoint> breakpoints;
  /// Cleared when the breakpoints change.
  std::vector<Slot> slots;
  unsigned catching = 0;
  bool isAboutChanges = false;
};

} // namespace adbg
