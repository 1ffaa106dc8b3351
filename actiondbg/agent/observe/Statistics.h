//===- Statistics.h - Counts and time by tag and name -----------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "support/Maps.h"

namespace adbg {

/// The totals of all actions of one name.
struct Statistic {
  std::string tag, name;
  uint64_t succeeded = 0, unchanged = 0, failed = 0, skipped = 0, changes = 0;
  int64_t ticks = 0;
};

class Statistics {
public:
  /// Returns the totals for the name of `frame`.
  Statistic &of(const Frame &frame);
  const TextMap<Statistic> &all() const { return byName; }

private:
  Statistic &find(const Frame &frame);
  TextMap<Statistic> byName;
  Memo<Statistic *> patterns, passes, others;
  KeyMemo<Statistic *> folds;
};

} // namespace adbg
