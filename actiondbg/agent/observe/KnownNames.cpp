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
    passes.insert(frame.name());
    return;
  default:
    frame.nth = ++tags[frame.tag()];
  }
}

void KnownNames::addPattern(const mlir::Pattern &pattern) {
  llvm::StringRef name = pattern.getDebugName();
  if (name.empty())
    unnamed.insert(UnnamedPattern(pattern));
  else
    patterns.insert(withoutAnonymous(name));
}

const llvm::StringSet<> &KnownNames::patternNames() {
  for (const UnnamedPattern &one : unnamed)
    patterns.insert(withoutAnonymous(one.find().name));
  unnamed.clear();
  return patterns;
}

size_t KnownNames::bytes() const {
  size_t bytes = 0;
  for (const llvm::StringSet<> *names : {&patterns, &passes})
    for (llvm::StringRef name : names->keys())
      bytes += name.size() + 2 * sizeof(void *);
  return bytes;
}

} // namespace adbg
