//===- Proof.h - What is tried in a fork before it is used ------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

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

/// Something that may crash or hang with a tool that nobody has tried.
struct ProofStep {
  /// What it proves of each process that has loaded the same files; null if it
  /// is about the IR of this one.
  const char *fact;
  /// Returns why it is not as expected: the end of a sentence; empty if it is.
  function_ref<std::string()> take;
};

/// Takes steps in forks of the tool, in which nothing is at stake: a fork that
/// ends in one is followed by another, which goes on behind it. A step whose
/// fact an earlier process has proved is left out. Returns for each step why it
/// failed; empty if it did not. Where the tool cannot be forked, and where a
/// fork of a tool with other threads waits for a lock of another thread,
/// nothing is known against the steps that are left.
std::vector<std::string> proveInForks(ArrayRef<ProofStep> steps);

} // namespace adbg
