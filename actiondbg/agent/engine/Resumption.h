//===- Resumption.h - Resuming after a stop ---------------------*- C++ -*-===//

#pragma once

#include "match/OutcomeFilter.h"
#include "match/Spec.h"

namespace adbg {

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
  std::optional<Spec> until;
  /// `until` ends with the surrounding action.
  bool within = false;
  /// `until` waits for the end of an action, with this outcome if there is one.
  bool after = false;
  std::optional<OutcomeFilter> outcome;
  /// `outcome` ignores changes of nested actions.
  bool own = false;
  /// The event to stop at, if not 0: earlier hits do not stop, and the latest
  /// `keep` of them are stored.
  uint64_t event = 0, keep = 0;

  bool isStepping() const { return control >= Control::Step; }
  /// Whether `until` waits for the end of an action that it matches.
  bool isForEnds() const { return until && (after || until->isAboutOutcome()); }
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

} // namespace adbg
