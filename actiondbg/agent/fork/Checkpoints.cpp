#include "fork/Checkpoints.h"

namespace adbg {

// The cost of copying a page at its first write after a fork, measured on a
// virtual machine, cache effects included.
static constexpr int64_t faultNanoseconds = 6000;
// Checkpoints take at most 1/timeRatio of the run time.
static constexpr int64_t timeRatio = 12;
// The distance between two checkpoints is at most 1/distanceRatio of the way
// back to them.
static constexpr int64_t distanceRatio = 8;
// Below this number of events, running them again is faster than a fork.
static constexpr uint64_t leastEvents = 200;

static uint64_t faultsSoFar() {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt : 0;
}

void Checkpoints::configure(const std::string &path, int64_t milliseconds,
                            int64_t megabytes) {
  socket = path;
  spacing = lengthened = milliseconds * 1000000;
  mostPages = megabytes * (1 << 20) / sysconf(_SC_PAGESIZE);
  nextCheck = spacing ? 0 : never;
}

void Checkpoints::approach(uint64_t now, uint64_t to) {
  target = spacing && to > now + leastEvents ? to : 0;
  since = now;
  if (target)
    nextCheck = now;
}

bool Checkpoints::isDue(uint64_t event, int64_t time) {
  bool isDue = newest && time - newest >= lengthened;
  if (!newest)
    newest = time;
  if (target > event + leastEvents)
    isDue |= event >= halfway();
  plan(event, time);
  return isDue;
}

/// Schedules the next check: a few times between two checkpoints, and not at
/// each event, because reading the clock costs time.
void Checkpoints::plan(uint64_t event, int64_t time) {
  uint64_t events = event - lastCheck;
  int64_t took = time - lastCheckTime;
  uint64_t step = 1;
  if (lastCheckTime && took > 0 && events)
    step = std::clamp<uint64_t>(events * (lengthened / 8) / took, 1, 512);
  lastCheck = event;
  lastCheckTime = time;
  nextCheck = event + step;
  if (target > event + leastEvents)
    nextCheck = std::min(nextCheck, std::max(event + 1, halfway()));
}

void Checkpoints::made(pid_t pid, uint64_t event, int64_t time, int64_t took) {
  uint64_t now = faultsSoFar();
  uint64_t pages = now - faults;
  faults = now;
  newest = time;
  since = event;
  if (!own.empty())
    own.back().pages = pages;
  int64_t cost = took + int64_t(own.empty() ? 0 : pages) * faultNanoseconds;
  lengthened = std::max(spacing, timeRatio * cost);
  int pidfd = syscall(SYS_pidfd_open, pid, 0);
  if (pidfd < 0)
    return;
  own.push_back({pidfd, time, 0});
  thin(time);
}

void Checkpoints::drop(size_t index) {
  syscall(SYS_pidfd_send_signal, own[index].pidfd, SIGKILL, nullptr, 0);
  close(own[index].pidfd);
  // The pages shared by these two only are kept by the older one.
  if (index)
    own[index - 1].pages += own[index].pages;
  own.erase(own.begin() + index);
}

/// By run time. The front end has limits of its own, for all checkpoints of a
/// session: least_useful in process/checkpoints.py.
void Checkpoints::thin(int64_t time) {
  for (size_t i = 1; i + 1 < own.size();) {
    int64_t gap = own[i + 1].time - own[i - 1].time;
    if (gap * distanceRatio < time - own[i + 1].time)
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
