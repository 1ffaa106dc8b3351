//===- Outcome.h - What an action did ---------------------------*- C++ -*-===//

#ifndef ACTIONDBG_OUTCOME_H
#define ACTIONDBG_OUTCOME_H

#include "match/Match.h"
#include "llvm/ADT/StringMap.h"

namespace adbg {

llvm::StringRef textOf(Result result);

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

/// What happened so far to all actions of one name.
struct Statistic {
  std::string tag, name;
  uint64_t succeeded = 0, unchanged = 0, failed = 0, skipped = 0, changes = 0;
  int64_t ticks = 0;
};

class Statistics {
public:
  /// The actions of the name of `frame`.
  Statistic &of(const Frame &frame);
  const llvm::StringMap<Statistic> &all() const { return byName; }

private:
  Statistic &find(const Frame &frame);
  llvm::StringMap<Statistic> byName;
  Memo<Statistic *> patterns, passes, others;
  KeyMemo<Statistic *> folds;
};

} // namespace adbg

#endif // ACTIONDBG_OUTCOME_H
