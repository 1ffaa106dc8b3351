//===- QuietFork.cpp - Forks that the tool does not notice ----------------===//

#include "fork/QuietFork.h"

#include <cerrno>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace adbg {

/// Whether no other thread could be in the middle of something, such as malloc,
/// that only the C library's own fork sets right in the child.
static bool isSingleThreaded() {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/// Forks twice, so that the tool has no child that it does not know of.
static pid_t forkTwice() {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  pid_t child = fork();
  if (child == 0) {
    pid_t second = fork();
    if (second != 0) {
      ssize_t written = write(ends[1], &second, sizeof(second));
      _exit(written == sizeof(second) ? 0 : 1);
    }
    close(ends[0]);
    close(ends[1]);
    return 0;
  }
  close(ends[1]);
  pid_t pid = -1;
  ssize_t got = -1;
  while (child > 0 && (got = read(ends[0], &pid, sizeof(pid))) < 0 &&
         errno == EINTR) {
  }
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && got == sizeof(pid) && pid > 0 ? pid : -1;
}

pid_t forkQuietly() {
  // Those that were killed meanwhile.
  while (waitpid(-1, nullptr, __WCLONE | WNOHANG) > 0) {
  }
  // A child that sends no signal at its end is no child to who waits for any:
  // the tool does not know of it. That takes half as long as to fork twice. The
  // C library keeps the thread's id where the kernel was told at the start.
  int *tid = nullptr;
  bool isKnown = prctl(PR_GET_TID_ADDRESS, &tid) == 0 && tid &&
                 *tid == getpid() && isSingleThreaded();
  pid_t pid =
      isKnown ? syscall(SYS_clone, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
                        nullptr, nullptr, tid, tid)
              : forkTwice();
  // A group of its own, which ends with its children and nobody else.
  if (pid == 0)
    setpgid(0, 0);
  return pid;
}

} // namespace adbg
