//===- Proof.h - What is tried in a fork before it is used ------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace adbg {

/// Something that may crash or hang with a tool that nobody has tried.
struct ProofStep {
  /// What it proves of each process that has loaded the same files; null if it
  /// is about the IR of this one.
  const char *fact;
  /// Returns why it is not as expected: the end of a sentence; empty if it is.
  llvm::function_ref<std::string()> take;
};

/// Takes steps in forks of the tool, in which nothing is at stake: a fork that
/// ends in one is followed by another, which goes on behind it. A step whose
/// fact an earlier process has proved is left out. Returns for each step why it
/// failed; empty if it did not. Where the tool cannot be forked, and where a
/// fork of a tool with other threads waits for a lock of another thread,
/// nothing is known against the steps that are left.
std::vector<std::string> proveInForks(std::initializer_list<ProofStep> steps);

} // namespace adbg
