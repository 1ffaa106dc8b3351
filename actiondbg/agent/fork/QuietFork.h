//===- QuietFork.h - Forks that the tool does not see -----------*- C++ -*-===//

#pragma once

#include <sys/types.h>

namespace adbg {

/// Forks this process without the tool seeing the child. Returns its pid, or -1
/// on failure; 0 in the child.
pid_t forkQuietly();

} // namespace adbg
