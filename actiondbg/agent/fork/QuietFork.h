//===- QuietFork.h - Forks that the tool does not notice --------*- C++ -*-===//

#ifndef ACTIONDBG_QUIETFORK_H
#define ACTIONDBG_QUIETFORK_H

#include <sys/types.h>

namespace adbg {

/// Forks this process; the tool does not get to know of the child. Returns its
/// pid, or -1; in the child 0.
pid_t forkQuietly();

} // namespace adbg

#endif // ACTIONDBG_QUIETFORK_H
