//===- Checkpoints.cpp - Frozen forks that the tool makes by itself
//---------===//

#include "fork/Checkpoints.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace adbg {

// A page that is written after a fork is copied: on a virtual machine that
// takes about so long, with what it does to the caches.
static constexpr int64_t nanosecondsOfFault = 6000;
// Of the run's time, at most so much goes into checkpoints: one part of these.
static constexpr int64_t leastShare = 12;
// Two checkpoints are no further apart than this part of the way back to them.
static constexpr int64_t wayBack = 8;
// Nearer than so many events it is faster to repeat them than to fork.
static constexpr uint64_t nearest = 200;

const char *textOf(Role role) {
  switch (role) {
  case Role::Tool:
    return "tool";
  case Role::Checkpoint:
    return "checkpoint";
  case Role::Replica:
    return "replica";
  case Role::Trial:
    return "trial";
  }
  return "";
}

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

static uint64_t faultsSoFar() {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt : 0;
}

void Checkpoints::configure(const std::string &path, int64_t milliseconds,
                            int64_t megabytes) {
  socket = path;
  spacing = lengthened = milliseconds * 1000000;
  mostPages = megabytes * (1 << 20) / sysconf(_SC_PAGESIZE);
  lookAt = spacing ? 0 : never;
}

void Checkpoints::approach(uint64_t now, uint64_t to) {
  target = spacing && to > now + nearest ? to : 0;
  since = now;
  if (target)
    lookAt = now;
}

bool Checkpoints::isDue(uint64_t event, int64_t time) {
  bool isDue = newest && time - newest >= lengthened;
  if (!newest)
    newest = time;
  if (target > event + nearest)
    isDue |= event >= halfway();
  plan(event, time);
  return isDue;
}

/// Says when to look again: some times between two checkpoints, and not at each
/// event, as the clock costs.
void Checkpoints::plan(uint64_t event, int64_t time) {
  uint64_t events = event - lookedAt;
  int64_t took = time - lookedTime;
  uint64_t step = 1;
  if (lookedTime && took > 0 && events)
    step = std::clamp<uint64_t>(events * (lengthened / 8) / took, 1, 512);
  lookedAt = event;
  lookedTime = time;
  lookAt = event + step;
  if (target > event + nearest)
    lookAt = std::min(lookAt, std::max(event + 1, halfway()));
}

void Checkpoints::made(pid_t pid, uint64_t event, int64_t time, int64_t took) {
  uint64_t now = faultsSoFar();
  uint64_t pages = now - faults;
  faults = now;
  newest = time;
  since = event;
  if (!own.empty())
    own.back().pages = pages;
  int64_t cost = took + int64_t(own.empty() ? 0 : pages) * nanosecondsOfFault;
  lengthened = std::max(spacing, leastShare * cost);
  int pidfd = syscall(SYS_pidfd_open, pid, 0);
  if (pidfd < 0)
    return;
  own.push_back({pidfd, event, time, 0});
  thin(time);
}

void Checkpoints::drop(size_t index) {
  syscall(SYS_pidfd_send_signal, own[index].pidfd, SIGKILL, nullptr, 0);
  close(own[index].pidfd);
  // What only the two of them kept, the older keeps on.
  if (index)
    own[index - 1].pages += own[index].pages;
  own.erase(own.begin() + index);
}

void Checkpoints::thin(int64_t time) {
  for (size_t i = 1; i + 1 < own.size();) {
    int64_t gap = own[i + 1].time - own[i - 1].time;
    if (gap * wayBack < time - own[i + 1].time)
      drop(i);
    else
      ++i;
  }
  uint64_t pages = 0;
  for (const Own &one : own)
    pages += one.pages;
  while (pages > mostPages && own.size() > 1) {
    pages -= own.front().pages;
    drop(0);
  }
}

} // namespace adbg
