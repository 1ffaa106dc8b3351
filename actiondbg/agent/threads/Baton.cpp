#include "threads/Baton.h"

#include <linux/futex.h>

namespace adbg {

// A holder that waits for another thread of a pool delays each of its outermost
// actions by this once.
static constexpr int64_t stuckMilliseconds = 40, pauseMilliseconds = 5;

pid_t threadId() {
  static __thread pid_t own = 0, process = 0;
  // A fork has the memory of its parent, but an id of its own.
  if (process != getpid()) {
    process = getpid();
    own = pid_t(syscall(SYS_gettid));
  }
  return own;
}

void Baton::noteHolder() {
  holding.store(threadId(), std::memory_order_relaxed);
}

bool Baton::tryTake() {
  uint32_t expected = Free;
  if (!state.compare_exchange_strong(expected, Held, std::memory_order_acquire))
    return false;
  noteHolder();
  return true;
}

void Baton::give() {
  if (state.exchange(Free, std::memory_order_release) == Wanted)
    syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool Baton::isHolderAsleep() const {
  char path[64], text[512];
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", int(holding.load()));
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return true; // it has ended
  ssize_t size = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  text[size > 0 ? size : 0] = 0;
  // After the name, which may contain anything: the state.
  const char *name = strrchr(text, ')');
  return name && strncmp(name, ") S", 3) == 0;
}

static int64_t millisecondsNow() {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

bool Baton::wait(Patience patience) {
  int saved = errno;
  bool isTaken = waitMore(patience);
  errno = saved;
  return isTaken;
}

bool Baton::waitMore(Patience patience) {
  uint64_t seen = eventNow();
  int64_t since = millisecondsNow();
  // Still at the event at which it was found stuck.
  if (!isStopped && seen == stuckAt && isHolderAsleep())
    return false;
  while (true) {
    if (state.exchange(Wanted, std::memory_order_acquire) == Free)
      return true;
    if (isStopped) {
      if (patience == Patience::AsSet && !waitsAtStops)
        return false;
      since = millisecondsNow();
    }
    struct timespec pause = {0, pauseMilliseconds * 1000000};
    syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, uint32_t(Wanted), &pause,
            nullptr, 0);
    uint64_t now = eventNow();
    if (now != seen || isStopped || !isHolderAsleep()) {
      seen = now;
      since = millisecondsNow();
    } else if (millisecondsNow() - since >= stuckMilliseconds) {
      stuckAt = seen;
      return false;
    }
  }
}

static std::atomic<pthread_t> theOne{0};

OneThread::OneThread() : isOuter(theOne != pthread_self()) {
  pthread_t none = 0;
  while (isOuter && !theOne.compare_exchange_weak(none, pthread_self())) {
    none = 0;
    usleep(100);
  }
}

OneThread::~OneThread() {
  if (isOuter)
    theOne = 0;
}

} // namespace adbg
