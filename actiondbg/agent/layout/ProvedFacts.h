//===- ProvedFacts.h - What earlier processes proved ------------*- C++ -*-===//

#pragma once

#include <string>

namespace adbg {

/// What was proved of the current MLIR, in this process or in an earlier one
/// that had loaded the same files. It is kept in the folder $ACTIONDBG_CACHE,
/// in a file for each build of MLIR. What was refuted is not: the IR that it
/// was tried with may have been the reason. Safe for concurrent threads and
/// processes.
class ProvedFacts {
public:
  /// Called once for each MLIR, when it is current. `file`: with its code.
  /// Without a build-id nothing is kept.
  static void open(const std::string &file, const std::string &buildId);
  static bool has(const char *fact);
  static void add(const char *fact);
};

} // namespace adbg
