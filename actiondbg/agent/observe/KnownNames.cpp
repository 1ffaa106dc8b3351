#include "observe/KnownNames.h"
#include "mlir/Pass/Pass.h"

namespace adbg {

void KnownNames::number(Frame &frame) {
  switch (frame.kind) {
  case Kind::Pattern:
    frame.nth = ++patternActions;
    return;
  case Kind::Fold:
    frame.nth = ++folds;
    return;
  case Kind::Pass:
    frame.nth = ++passActions;
    if (!frame.isAlternative) {
      frame.needRare().run = ++passes[frame.name()];
      passRuns += !frame.isAdaptor();
    }
    return;
  default:
    frame.nth = ++tags[frame.tag().str()];
  }
}

void KnownNames::addPattern(const Pattern &pattern) {
  StringRef name = pattern.getDebugName();
  if (name.empty())
    unnamed.insert(UnnamedPattern(pattern));
  else
    patterns.insert(withoutAnonymous(name));
}

const TextSet &KnownNames::patternNames() {
  for (const UnnamedPattern &one : unnamed)
    patterns.insert(withoutAnonymous(one.find().name));
  unnamed.clear();
  return patterns;
}

size_t KnownNames::bytes() const {
  size_t bytes = 0;
  for (const std::string &name : patterns)
    bytes += name.size() + 2 * sizeof(void *);
  for (const auto &[name, runs] : passes)
    bytes += name.size() + 3 * sizeof(void *);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Counts and time by tag and name
//===----------------------------------------------------------------------===//

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
