//===- KnownNames.h - Names of actions for completion -----------*- C++ -*-===//

#ifndef ACTIONDBG_KNOWNNAMES_H
#define ACTIONDBG_KNOWNNAMES_H

#include "engine/Frame.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace adbg {

/// The names of patterns and passes, and the number of actions of each tag.
class KnownNames {
public:
  /// Assigns an action its number among those of its tag.
  void number(Frame &frame);
  void addPattern(llvm::StringRef debugName) {
    patterns.insert(withoutAnonymous(debugName));
  }
  size_t bytes() const;

  llvm::StringSet<> patterns, passes;
  /// The number of actions of each uncommon tag.
  llvm::StringMap<uint64_t> tags;

private:
  uint64_t patternActions = 0, folds = 0, passActions = 0;
};

} // namespace adbg

#endif // ACTIONDBG_KNOWNNAMES_H
