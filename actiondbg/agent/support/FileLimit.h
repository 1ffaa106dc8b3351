//===- FileLimit.h - The tool's limit of file sizes -------------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg {

/// While it exists, a write of this thread over the tool's limit of file sizes,
/// as `ulimit -f` sets it, fails: the signal that comes with it, which ends a
/// process, is taken away. For files of the agent's own.
class FileLimit {
public:
  FileLimit() {
    struct rlimit limit;
    isThere =
        getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (!isThere)
      return;
    sigset_t pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    isPending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
  }
  ~FileLimit() {
    if (!isThere)
      return;
    int error = errno;
    constexpr struct timespec atOnce{};
    if (!isPending)
      sigtimedwait(&signals, nullptr, &atOnce);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
  }
  FileLimit(const FileLimit &) = delete;
  FileLimit &operator=(const FileLimit &) = delete;

private:
  sigset_t signals, before;
  bool isThere, isPending = false;
};

} // namespace adbg
