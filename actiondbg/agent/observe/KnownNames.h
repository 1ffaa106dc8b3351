//===- KnownNames.h - Names of actions for completion -----------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "observe/PatternNames.h"

namespace adbg {

/// The names of patterns, the number of runs of each pass, and the number of
/// actions of each tag.
class KnownNames {
public:
  /// Assigns an action its number among those of its tag, and a pass its number
  /// among the runs of that pass.
  void number(Frame &frame);
  void addPattern(const Pattern &pattern);
  /// Returns the names of patterns, and finds those of patterns without a debug
  /// name, which takes time, only now.
  const TextSet &patternNames();
  size_t bytes() const;

  TextMap<uint64_t> passes;
  /// The number of their runs that have begun, adaptors aside.
  uint64_t passRuns = 0;
  /// The number of actions of each uncommon tag.
  TextMap<uint64_t> tags;

private:
  TextSet patterns;
  std::set<UnnamedPattern> unnamed;
  uint64_t patternActions = 0, folds = 0, passActions = 0;
};

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
