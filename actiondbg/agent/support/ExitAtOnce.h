//===- ExitAtOnce.h - The end of a process of the agent ---------*- C++ -*-===//
//
// The agent stands in front of _exit, to complete what it records when the tool
// ends so. Its own forks, and a process that is not to go on, end without that.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_EXITATONCE_H
#define ACTIONDBG_EXITATONCE_H

#include <sys/syscall.h>
#include <unistd.h>

namespace adbg {

[[noreturn]] inline void exitAtOnce(int status) {
  for (;;)
    syscall(SYS_exit_group, status);
}

} // namespace adbg

#endif // ACTIONDBG_EXITATONCE_H
