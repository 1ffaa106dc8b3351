#include "fork/QuietFork.h"
#include "support/Assembly.h"
#include "support/ExitAtOnce.h"

namespace adbg {

bool isSingleThreaded() {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

namespace {
/// A pipe, whose ends are closed with it.
struct Pipe {
  int ends[2] = {-1, -1};
  bool isOpen = pipe2(ends, O_CLOEXEC) == 0;

  Pipe() = default;
  Pipe(const Pipe &) = delete;
  ~Pipe() {
    shut(0);
    shut(1);
  }
  void shut(int end) {
    if (int fd = std::exchange(ends[end], -1); fd >= 0)
      close(fd);
  }
};
} // namespace

// As vfork of the C library, but no signal tells of the child's end, and only a
// wait for such children finds it.
extern "C" pid_t adbg_vforkUnseen()
    __attribute__((returns_twice, visibility("hidden")));
#if defined(__x86_64__)
// clone(CLONE_VM | CLONE_VFORK). The child overwrites the return address.
ADBG_ASSEMBLY("adbg_vforkUnseen", "  popq %r9\n"
                                  ".cfi_adjust_cfa_offset -8\n"
                                  ".cfi_register %rip, %r9\n"
                                  "  movl $0x4100, %edi\n"
                                  "  xorl %esi, %esi\n"
                                  "  movl $56, %eax\n"
                                  "  syscall\n"
                                  "  pushq %r9\n"
                                  ".cfi_adjust_cfa_offset 8\n"
                                  ".cfi_offset %rip, -8\n"
                                  "  ret\n");
#elif defined(__aarch64__)
ADBG_ASSEMBLY("adbg_vforkUnseen", "  mov x0, #0x4100\n"
                                  "  mov x1, #0\n"
                                  "  mov x8, #220\n"
                                  "  svc #0\n"
                                  "  ret\n");
#else
pid_t adbg_vforkUnseen() { return -1; }
#endif

/// In a process that shares the memory of the tool: forks, and ends. Returns in
/// the fork. A frame of its own keeps the tool's as it is.
LLVM_ATTRIBUTE_NOINLINE static void forkBetween(int fd) {
  pid_t pid = fork();
  if (pid == 0)
    return;
  ssize_t written = write(fd, &pid, sizeof(pid));
  exitAtOnce(written == sizeof(pid) ? 0 : 1);
}

/// Forks by the C library, but in a process in between, so that the tool gets
/// no child that it did not start. There handlers of pthread_atfork run, too: a
/// thread that such a handler starts in the parent ends with that process.
static pid_t forkTwice() {
  Pipe number;
  if (!number.isOpen)
    return -1;
  // A handler of the tool in the process between would change the tool.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t between = adbg_vforkUnseen();
  if (between < 0)
    between = fork(); // emulators know no children without a signal
  if (between == 0)
    forkBetween(number.ends[1]);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (between == 0)
    return 0;
  number.shut(1);
  pid_t pid = -1;
  ssize_t got = -1;
  while (between > 0 && (got = read(number.ends[0], &pid, sizeof(pid))) < 0 &&
         errno == EINTR) {
  }
  if (got != sizeof(pid))
    pid = -1;
  while (between > 0 && waitpid(between, nullptr, __WALL) < 0 &&
         errno == EINTR) {
  }
  return pid;
}

/// Forks this process. No signal tells of the child's end, and a wait for any
/// child does not find it.
static pid_t forkUnseen() {
  // A child without an exit signal is invisible to a wait for any child, so the
  // tool does not see it. This takes half the time of forking twice. The C
  // library keeps the thread id at the address given to the kernel at the
  // start.
  int *tid = nullptr;
  bool isKnown = prctl(PR_GET_TID_ADDRESS, &tid) == 0 && tid &&
                 *tid == getpid() && isSingleThreaded();
  return isKnown ? syscall(SYS_clone, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
                           nullptr, nullptr, tid, tid)
                 : forkTwice();
}

pid_t forkQuietly() {
  // Reap children that were killed meanwhile.
  while (waitpid(-1, nullptr, __WCLONE | WNOHANG) > 0) {
  }
  pid_t pid = forkUnseen();
  if (pid == 0) {
    // A process group of its own, to end it with its children and nothing else.
    setpgid(0, 0);
    computationsInForks = 0; // the fork has no other threads
  }
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

/// The seconds without progress after which a fork is given up. Once one was,
/// others wait for the same lock as likely as not.
static std::atomic<int> patience{10};

/// Reads what a child writes. Returns false if the child did not end in time,
/// or waits for ever: a fork lacks the threads that would release a lock.
static bool readToEnd(int fd, pid_t child, std::string &text,
                      Clock::time_point last) {
  char chunk[4096];
  int64_t used = -1;
  // Counted in seconds awake, so that a stopped process is not given up.
  int idle = 0;
  while (idle < patience && Clock::now() < last) {
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
  // A time limit of ten seconds ends the loop a second before patience does.
  if (idle >= patience - 1)
    patience = 1;
  return false;
}

/// Ends this process when no process has the other end of a pipe any more. It
/// may be no child of the tool, so that PR_SET_PDEATHSIG does not do.
static void endWithWriter(int fd) {
  fcntl(fd, F_SETOWN, getpid());
  fcntl(fd, F_SETSIG, SIGKILL);
  fcntl(fd, F_SETFL, O_ASYNC);
  pollfd end = {fd, 0, 0};
  if (poll(&end, 1, 0) != 0) // before the signal was set up
    exitAtOnce(1);
}

namespace {
/// While an object lives, its thread waits for a computation in a fork.
struct Waiting {
  Waiting() { ++computationsInForks; }
  Waiting(const Waiting &) = delete;
  ~Waiting() { --computationsInForks; }
};
} // namespace

ForkEnd runInFork(function_ref<void(int)> write,
                  std::optional<std::chrono::seconds> limit) {
  Clock::time_point last =
      limit ? Clock::now() + *limit : Clock::time_point::max();
  Pipe answer, life;
  if (!answer.isOpen || !life.isOpen)
    return {};
  Waiting waiting;
  pid_t child = forkUnseen();
  if (child == 0) {
    if (leaveTool)
      leaveTool();
    // LLVM's signal handlers would remove the files that the tool is writing.
    for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM})
      signal(fatal, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    life.shut(1);
    endWithWriter(life.ends[0]);
    write(answer.ends[1]);
    exitAtOnce(0);
  }
  answer.shut(1);
  ForkEnd end{child > 0, "", ""};
  if (child < 0)
    return end;
  // A child of the process between may be reaped, and its number used again.
  int process = syscall(SYS_pidfd_open, child, 0);
  if (!readToEnd(answer.ends[0], child, *end.text, last)) {
    if (process >= 0)
      syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0);
    else
      kill(child, SIGKILL);
    end.unfinished = std::move(*end.text);
    end.text.reset();
  }
  if (process >= 0)
    close(process);
  while (waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  return end;
}

} // namespace adbg
