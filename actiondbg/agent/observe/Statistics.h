//===- Statistics.h - Counts and time by tag and name -----------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "support/Memo.h"

namespace adbg {

/// The totals of all actions of one name: a column of `info patterns` each.
struct Statistic {
  std::string tag, name;
  uint64_t succeeded = 0, unchanged = 0, failed = 0, skipped = 0, changes = 0;
  int64_t ticks = 0;

  /// Counts an action that has ended.
  void count(const Frame &frame);
  Object describe(double seconds) const;
};

/// The statistics of a thread.
class Statistics {
public:
  Statistic &of(const Frame &frame);
  const TextMap<Statistic> &all() const { return byName; }

private:
  Statistic &find(const Frame &frame);
  TextMap<Statistic> byName;
  Memo<Statistic *> patterns, passes, others;
  KeyMemo<Statistic *> folds;
};

} // namespace adbg
