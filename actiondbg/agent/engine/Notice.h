//===- Notice.h - Why the tool stops ----------------------------*- C++ -*-===//

#pragma once

#include "observe/Observer.h"

namespace adbg {

struct Position {
  /// The ordinal of the latest action.
  uint64_t ordinal = 0;
  /// The number of events so far.
  uint64_t event = 0;
};

/// The report of a stop, without its position.
struct Notice {
  StringRef reason;
  /// The breakpoints that were hit.
  std::vector<int> hit;
  std::string message;
  std::optional<Culprit> culprit;
  /// Whether breakpoints, watches or catches are all that stops: such stops are
  /// counted.
  bool isHit() const {
    return !hit.empty() && reason != "verify" && reason != "interrupt";
  }
  /// The operation that the message is about; null if it is unknown.
  Operation *about = nullptr;
};

} // namespace adbg
