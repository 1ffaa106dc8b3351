//===- Statistics.cpp - Counts and time by tag and name -------------------===//

#include "observe/Statistics.h"
#include "observe/PatternNames.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

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
    if (StringRef name = frame.pass()->getArgument(); !name.empty())
      return *passes.get(name, compute);
    return *passes.get(frame.pass()->getName(), compute);
  default:
    if (frame.isGreedyIteration())
      return *others.get(frame.tag(), compute);
    return find(frame);
  }
}

} // namespace adbg
