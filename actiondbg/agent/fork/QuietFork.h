//===- QuietFork.h - Forks that the tool does not see -----------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Forks this process without the tool seeing the child. Returns its pid, or -1
/// on failure; 0 in the child.
pid_t forkQuietly();

/// Whether there is no other thread that could hold a lock, such as malloc's,
/// which only the C library's own fork resets in the child.
bool isSingleThreaded();

/// Called in the fork of a computation: it is not the tool any more, and may
/// have been made without the handlers of pthread_atfork.
inline void (*leaveTool)() = nullptr;

/// The end of a computation in a fork.
struct ForkEnd {
  /// Whether there could be a fork.
  bool isForked = false;
  /// What it wrote; empty if it crashed, none if it did not end in time or
  /// waits for a lock that nothing releases.
  std::optional<std::string> text = std::nullopt;
  /// What it wrote, if there is no text.
  std::string unfinished;
};

/// The number of computations in forks that threads of this process wait for.
inline std::atomic<unsigned> computationsInForks = 0;

/// Runs a computation in a fork of the tool, whose memory is freed at once; it
/// writes to a descriptor.
ForkEnd runInFork(function_ref<void(int)> write,
                  std::optional<std::chrono::seconds> limit = std::nullopt);

} // namespace adbg
