//===- QuietFork.cpp - Forks that the tool does not see -------------------===//

#include "fork/QuietFork.h"
#include "support/ExitAtOnce.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace adbg {

/// Whether there is no other thread that could hold a lock, such as malloc's,
/// which only the C library's own fork resets in the child.
static bool isSingleThreaded() {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/// Forks twice, so that the tool gets no child that it did not start.
static pid_t forkTwice() {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  pid_t child = fork();
  if (child == 0) {
    pid_t second = fork();
    if (second != 0) {
      ssize_t written = write(ends[1], &second, sizeof(second));
      exitAtOnce(written == sizeof(second) ? 0 : 1);
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
  // Reap children that were killed meanwhile.
  while (waitpid(-1, nullptr, __WCLONE | WNOHANG) > 0) {
  }
  // A child without an exit signal is invisible to a wait for any child, so the
  // tool does not see it. This takes half the time of forking twice. The C
  // library keeps the thread id at the address given to the kernel at the
  // start.
  int *tid = nullptr;
  bool isKnown = prctl(PR_GET_TID_ADDRESS, &tid) == 0 && tid &&
                 *tid == getpid() && isSingleThreaded();
  pid_t pid =
      isKnown ? syscall(SYS_clone, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
                        nullptr, nullptr, tid, tid)
              : forkTwice();
  // A process group of its own, to end it with its children and nothing else.
  if (pid == 0)
    setpgid(0, 0);
  return pid;
}

//===----------------------------------------------------------------------===//
// Computations in a fork
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;

/// Returns the processor time that a process has used, in nanoseconds.
static int64_t processorTime(pid_t pid) {
  clockid_t clock;
  struct timespec time = {};
  if (clock_getcpuclockid(pid, &clock) == 0)
    clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// Reads what a child writes. Returns false if the child did not end in time,
/// or waits for ever: a fork lacks the threads that would release a lock.
static bool readToEnd(int fd, pid_t child, std::string &text,
                      Clock::time_point last) {
  char chunk[4096];
  int64_t used = -1;
  // Counted in seconds awake, so that a stopped process is not given up.
  for (int idle = 0; idle < 10 && Clock::now() < last;) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(last - Clock::now());
    struct pollfd one = {fd, POLLIN, 0};
    int ready = poll(&one, 1, std::min<int64_t>(left.count(), 1000));
    ssize_t size = ready > 0 ? read(fd, chunk, sizeof(chunk)) : -1;
    if (size > 0)
      text.append(chunk, size);
    else if (size == 0 || (ready < 0 && errno != EINTR))
      return size == 0;
    if (std::exchange(used, processorTime(child)) != used)
      idle = 0;
    else if (ready == 0)
      ++idle;
  }
  return false;
}

ForkEnd runInFork(function_ref<void(int)> write,
                  std::optional<std::chrono::seconds> limit) {
  Clock::time_point last =
      limit ? Clock::now() + *limit : Clock::time_point::max();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  pid_t child = fork();
  if (child == 0) {
    // LLVM's signal handlers would remove the files that the tool is writing.
    for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM})
      signal(fatal, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    write(ends[1]);
    exitAtOnce(0);
  }
  close(ends[1]);
  ForkEnd end{child > 0, ""};
  if (child > 0 && !readToEnd(ends[0], child, *end.text, last)) {
    kill(child, SIGKILL);
    end.text.reset();
  }
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return end;
}

} // namespace adbg
