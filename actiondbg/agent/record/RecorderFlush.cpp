//===- RecorderFlush.cpp - Flushing recorders on timers and signals -------===//
//
// A thread writes its buffered rows when the buffer is full. A thread that
// waits, or runs a long action, would write them late, and a crash or kill is
// seen by one thread only. Therefore each thread has a timer that wakes it by a
// signal of its own, and the thread that handles a fatal signal wakes all
// others with the same signal. Only the thread itself touches its buffers, so
// they need no lock.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"

// Some C libraries do not define it.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace adbg {

namespace {
/// The recorders of all live threads.
struct Recorders {
  std::mutex mutex;
  std::vector<Recorder *> all;
  unsigned threads = 0;
};
} // namespace

static Recorders &recorders() {
  // Never destroyed: threads may outlive main.
  static auto *recorders = new Recorders;
  return *recorders;
}

__thread Recorder *Recorder::ofThread = nullptr;

void Recorder::sleepFor(int64_t nanoseconds) {
  struct timespec time = {0, long(nanoseconds)};
  nanosleep(&time, nullptr);
}

//===----------------------------------------------------------------------===//
// Wake-up signals
//===----------------------------------------------------------------------===//

/// The wake-up signal; 0 if the tool uses all of them.
static int wakeSignal = 0;

/// Takes the highest real-time signal that has no handler.
void Recorder::handleWakeSignal() {
  recorders().threads = 0;
  for (int number = SIGRTMAX; number > SIGRTMIN && !wakeSignal; --number) {
    struct sigaction before = {}, action = {};
    if (sigaction(number, nullptr, &before) != 0 ||
        before.sa_handler != SIG_DFL)
      continue;
    action.sa_handler = onWake;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, nullptr) == 0)
      wakeSignal = number;
  }
}

void Recorder::onWake(int) {
  Recorder *mine = isOn() ? ofThread : nullptr;
  if (!mine)
    return;
  int error = errno;
  if (mine->isBusy)
    mine->wakeIn(millisecond);
  else
    mine->flushNow();
  errno = error;
}

void Recorder::wakeIn(int64_t nanoseconds) {
  if (!hasTimer)
    return;
  struct itimerspec once = {};
  once.it_value.tv_nsec = nanoseconds;
  timer_settime(timer, 0, &once, nullptr);
}

unsigned Recorder::newThread() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  return others.threads++;
}

void Recorder::enlist() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  thread = others.threads++;
  id = syscall(SYS_gettid);
  others.all.push_back(this);
  ofThread = this;
  if (!wakeSignal)
    return;
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = wakeSignal;
  event.sigev_notify_thread_id = id;
  hasTimer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

void Recorder::delist() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  std::erase(others.all, this);
  if (ofThread == this)
    ofThread = nullptr;
  if (hasTimer)
    timer_delete(timer);
  hasTimer = false;
}

void Recorder::forgetThreads() {
  recorders().all.clear();
  ofThread = nullptr;
}

//===----------------------------------------------------------------------===//
// All threads
//===----------------------------------------------------------------------===//

/// Makes each thread flush its buffers. Runs in a signal handler: threads that
/// block signals are waited for briefly only.
void Recorder::flushEverywhere() {
  if (ofThread)
    ofThread->flushNow();
  Recorders &others = recorders();
  // The interrupted thread may hold the lock.
  std::unique_lock<std::mutex> lock(others.mutex, std::try_to_lock);
  for (int tries = 0; !lock && tries < 20; ++tries) {
    sleepFor(millisecond);
    lock.try_lock();
  }
  if (!lock)
    return;
  std::pair<Recorder *, unsigned> asked[512];
  size_t count = 0;
  for (Recorder *one : others.all)
    if (one != ofThread && one->isPending() && count < std::size(asked)) {
      asked[count++] = {one, one->flushes};
      if (wakeSignal)
        syscall(SYS_tgkill, getpid(), one->id, wakeSignal);
    }
  auto isLeft = [](auto &one) { return one.first->flushes == one.second; };
  for (int tries = 0; tries < 300; ++tries) {
    if (std::none_of(asked, asked + count, isLeft))
      return;
    sleepFor(millisecond);
  }
  for (auto &one : ArrayRef(asked, count))
    if (isLeft(one))
      one.first->flushNow(); // usually a no-op by now
}

} // namespace adbg
