//===- Candidates.h - Breakpoints by the names of an action -----*- C++ -*-===//

#pragma once

#include "match/Breakpoint.h"

namespace adbg {

/// A breakpoint that may match, and its terms that the names leave open.
struct Candidate {
  Breakpoint *breakpoint;
  Spec::Terms open;
};

/// The breakpoints that may match by name, cached for each combination of tag,
/// pattern name and operation name: most actions match none, which one lookup
/// shows.
class Candidates {
public:
  /// Clears the cache: the breakpoints have changed.
  void forget() { slots.clear(); }
  llvm::ArrayRef<Candidate> of(const Frame &frame,
                               std::vector<Breakpoint> &breakpoints);

private:
  struct Slot {
    const char *tag = nullptr;
    const char *name = nullptr;
    const char *op = nullptr;
    unsigned epoch = 0;
    std::vector<Candidate> found;
  };
  std::vector<Slot> slots;
};

} // namespace adbg
