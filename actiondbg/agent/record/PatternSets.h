//===- PatternSets.h - The sets of patterns of a process --------*- C++ -*-===//
//
// A pattern that no action tries is known from the set that was frozen with it.
// Sets are large and the same in most processes of a suite: each is kept once,
// in a file of the suite named by a hash, and a recording refers to it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/PatternMatch.h"

namespace adbg {

class PatternSets {
public:
  /// Keeps the sets in a folder. Without one they are not recorded.
  static void keepIn(std::string folder);
  static bool isKept();
  /// Records a set that is frozen, without the patterns that its labels switch
  /// off. `disabled` and `enabled` are those of FrozenRewritePatternSet.
  static void record(ArrayRef<std::unique_ptr<RewritePattern>> patterns,
                     ArrayRef<std::string> disabled,
                     ArrayRef<std::string> enabled);
};

} // namespace adbg
