//===- Statistics.cpp - Counts and time by tag and name -------------------===//

#include "observe/Statistics.h"
#include "observe/PatternNames.h"

namespace adbg {

void Statistic::count(const Frame &frame) {
  Result result = frame.result();
  ticks += frame.took;
  changes += frame.tally.total();
  succeeded += result == Result::Succeeded || result == Result::Unchanged;
  unchanged += result == Result::Unchanged;
  failed += result == Result::Failed;
  skipped += result == Result::Skipped;
}

Object Statistic::describe(double seconds) const {
  return Object{{"tag", tag},
                {"name", name},
                {"attempts", int64_t(succeeded + failed + skipped)},
                {"succeeded", int64_t(succeeded)},
                {"unchanged", int64_t(unchanged)},
                {"failed", int64_t(failed)},
                {"skipped", int64_t(skipped)},
                {"changes", int64_t(changes)},
                {"seconds", seconds}};
}

Statistic &Statistics::find(const Frame &frame) {
  std::string tag = frame.tag().str();
  // All iterations of the greedy driver share a row.
  std::string name = frame.isGreedyIteration() ? "" : frame.name();
  Statistic &one = byName[tag + '\0' + name];
  one.tag = std::move(tag);
  one.name = std::move(name);
  return one;
}

Statistic &Statistics::of(const Frame &frame) {
  auto compute = [&] { return &find(frame); };
  switch (frame.kind) {
  case Kind::Pattern:
    return *patterns.get(nameOf(*frame.pattern()), compute);
  case Kind::Fold:
    return *folds.get(frame.nameKey, compute);
  case Kind::Pass:
    return *passes.get(frame.passName(), compute);
  default:
    if (frame.isGreedyIteration())
      return *others.get(frame.tag(), compute);
    return find(frame);
  }
}

} // namespace adbg
