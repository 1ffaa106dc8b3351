//===- OutcomeFilter.h - Outcomes that a breakpoint stops at -*- C++ -*-===//

#ifndef ACTIONDBG_OUTCOMEFILTER_H
#define ACTIONDBG_OUTCOMEFILTER_H

#include "engine/Frame.h"
#include "match/Glob.h"
#include "support/Fields.h"

namespace adbg {

/// Which outcomes a breakpoint stops at; any one suffices, and none asked for
/// means all.
struct OutcomeFilter {
  bool succeeded = false, failed = false, changed = false, unchanged = false,
       skipped = false;
  std::optional<Glob> reason;

  static std::optional<OutcomeFilter> parse(Fields &fields);
  bool asksForAll() const;
  /// Whether reasons may have a say, so that they have to be collected.
  bool needsReasons() const { return asksForAll() || failed || reason; }
  /// `own`: a change by a nested action is none of the action's.
  bool matches(const Frame &frame, bool own) const;
};

} // namespace adbg

#endif // ACTIONDBG_OUTCOMEFILTER_H
