//===- Position.h - Where the run is on its timeline ------------*- C++ -*-===//

#pragma once

#include <cstdint>

namespace adbg {

struct Position {
  /// The ordinal of the latest action.
  uint64_t ordinal = 0;
  /// The number of events so far.
  uint64_t event = 0;
};

} // namespace adbg
