//===- OutcomeFilter.h - Outcomes that a breakpoint stops at ----*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "match/Glob.h"

namespace adbg {

/// The outcomes that a breakpoint stops at; an empty filter matches every
/// outcome.
struct OutcomeFilter {
  bool succeeded = false, failed = false, changed = false, unchanged = false,
       skipped = false;
  std::optional<Glob> reason;

  static OutcomeFilter parse(Fields &fields);
  bool asksForAll() const;
  /// Whether matching needs the reasons, so that they must be collected.
  bool needsReasons() const { return asksForAll() || failed || reason; }
  /// `own`: ignore changes of nested actions.
  bool matches(const Frame &frame, bool own) const;
};

} // namespace adbg
