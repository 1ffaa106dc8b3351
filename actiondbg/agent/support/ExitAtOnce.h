//===- ExitAtOnce.h - The end of a process of the agent ---------*- C++ -*-===//
//
// The agent stands in front of _exit, to complete what it records when the tool
// ends so. Its own forks, and a process that is not to go on, end without that.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/System.h"

namespace adbg {

[[noreturn]] inline void exitAtOnce(int status) {
  for (;;)
    syscall(SYS_exit_group, status);
}

/// Ends the process for lack of memory, and allocates none.
[[noreturn]] inline void endWithoutMemory(const char *reason) {
  for (const char *part : {"LLVM ERROR: out of memory\n", reason, "\n"})
    if (write(2, part, strlen(part)) < 0)
      break;
  abort();
}

/// Ends the process by a signal, without the tool's handler and a core file.
[[noreturn]] inline void dieOf(int number) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  sigaddset(&unblocked, number);
  pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr);
  raise(number);
  exitAtOnce(128 + number);
}

} // namespace adbg
