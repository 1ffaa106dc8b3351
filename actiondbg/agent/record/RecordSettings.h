//===- RecordSettings.h - What is recorded ----------------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// The settings of a recording.
struct RecordSettings {
  /// Paths of the files; empty for none.
  std::string path, upstreamLog;
  /// The detail of IR, and the ordinals of the actions of which it is recorded,
  /// "first-last"; empty for all.
  std::string ir, irOf, events;
  /// Not empty if the lineage of operations is recorded.
  std::string lineage;
  /// Not empty if patterns are checked (see PatternChecks), if the tool uses
  /// one thread, and if patterns of the same benefit are tried in the opposite
  /// order.
  std::string checks, oneThread, reversed;
  /// Standing skip rules as JSON, as in skips/set; empty for none.
  std::string skips;
  /// The version of the tool's LLVM; empty if it is not known.
  std::string llvm;
  /// Whether a file that cannot be written is named on stderr.
  bool names = true;

  /// Reads the settings that a front end gives. `variable` returns the value of
  /// an environment variable.
  static RecordSettings read(function_ref<std::string(const char *)> variable);
};

} // namespace adbg
