//===- Position.h - Where the run is on its timeline ------------*- C++ -*-===//

#ifndef ACTIONDBG_POSITION_H
#define ACTIONDBG_POSITION_H

#include <cstdint>

namespace adbg {

struct Position {
  /// Of the newest action.
  uint64_t ordinal = 0;
  /// How often an action began or ended.
  uint64_t event = 0;
};

} // namespace adbg

#endif // ACTIONDBG_POSITION_H
