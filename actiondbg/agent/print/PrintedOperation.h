//===- PrintedOperation.h - The text of one operation -----------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"
#include <cstdint>
#include <string>
#include <vector>

namespace adbg {

/// A region that an operation prints, and how.
struct PrintedRegion {
  Region *region;
  bool hasEntryArguments, hasTerminators, hasEmptyBlock;
  /// By how many levels it is indented more than the operation.
  unsigned indent;
};

/// The text of an operation, cut at its regions: there is one part more than
/// there are regions. In the place of each value stand, between two `mark`s,
/// its key, the id of its scope and the name that it suggests: empty for a
/// number, `arg` for a numbered argument.
struct PrintedOperation {
  static constexpr char mark = '\x1a';
  std::vector<std::string> parts;
  std::vector<PrintedRegion> regions;
};

struct LineStyle {
  /// Constants of more elements are elided; negative: none.
  int64_t elide = 16;
  bool generic = false;
};

} // namespace adbg
