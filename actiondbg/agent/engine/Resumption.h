//===- Resumption.h - How far the tool runs ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_RESUMPTION_H
#define ACTIONDBG_RESUMPTION_H

#include "match/OutcomeFilter.h"
#include "match/Spec.h"

namespace adbg {

enum class Control : uint8_t { Continue, Apply, Skip, Step, Next, Finish };

/// The control with which a stop was left, and how much of it is used up.
struct Resumption {
  Control control = Control::Continue;
  uint64_t count = 1;
  /// Depth of the action of that stop, and on which side of it the stop was.
  unsigned depth = 0;
  bool wasOver = false;
  /// No action was dispatched before: the very first stop is a start.
  bool fromStart = false;
  std::optional<Spec> until;
  /// `until` ends where the surrounding action does.
  bool within = false;
  /// `until` is for the end of an action, with this outcome if there is one.
  bool after = false;
  std::optional<OutcomeFilter> outcome;
  /// Changes of nested actions do not count for `outcome`.
  bool own = false;
  /// Not 0: hits before that event do not stop, and the newest are kept.
  uint64_t event = 0, keep = 0;

  bool isStepping() const { return control >= Control::Step; }
  /// Whether it may stop the tool without a breakpoint.
  bool mayStop() const { return isStepping() || until || event; }
  /// Whether it may stop at the end of this action by its depth.
  bool stepsOver(const Frame &frame) const {
    return control == Control::Step ||
           (control == Control::Next && frame.depth <= depth) ||
           (control == Control::Finish && frame.depth < depth);
  }
  /// Counts an event of an action; returns whether the count is used up.
  bool usesUp(const Frame &frame, bool over);
  /// continue, apply and skip with a count pass that many hits; returns whether
  /// this is one of them.
  bool passesHit() {
    if (isStepping() || count <= 1)
      return false;
    --count;
    return true;
  }
  /// The reason of a stop by its count.
  llvm::StringRef reason() const;
};

} // namespace adbg

#endif // ACTIONDBG_RESUMPTION_H
