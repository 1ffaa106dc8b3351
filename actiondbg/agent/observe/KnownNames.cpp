//===- KnownNames.cpp - Names of actions for completion -------------------===//

#include "observe/KnownNames.h"

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

} // namespace adbg
