//===- Flush.cpp - Flushing recorders on timers and signals ---------------===//
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
#include "record/Stages.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

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

static thread_local Recorder *recorderOfThread = nullptr;

static constexpr int64_t millisecond = 1000000;

static void sleepFor(int64_t nanoseconds) {
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
  Recorder *mine = isOn() ? recorderOfThread : nullptr;
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
  recorderOfThread = this;
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
  llvm::erase(others.all, this);
  if (recorderOfThread == this)
    recorderOfThread = nullptr;
  if (hasTimer)
    timer_delete(timer);
  hasTimer = false;
}

void Recorder::forgetThreads() {
  recorders().all.clear();
  recorderOfThread = nullptr;
}

//===----------------------------------------------------------------------===//
// All threads
//===----------------------------------------------------------------------===//

/// Makes each thread flush its buffers. Runs in a signal handler: threads that
/// block signals are waited for briefly only.
void Recorder::flushEverywhere() {
  if (recorderOfThread)
    recorderOfThread->flushNow();
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
    if (one != recorderOfThread && one->isPending() &&
        count < std::size(asked)) {
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
  for (auto &one : llvm::ArrayRef(asked, count))
    if (isLeft(one))
      one.first->flushNow(); // usually a no-op by now
}

void Recorder::writeEnd(const char *text) {
  ChunkHeader header;
  header.thread = recorderOfThread ? recorderOfThread->thread : 0;
  RecordFile::write(header, Part{SectionKind::End, 0, 1, text, strlen(text)});
}

void Recorder::writeExit(int status) {
  flushEverywhere();
  Stages::finish();
  char text[64];
  snprintf(text, sizeof(text), "{\"ended\":\"exit\",\"status\":%d}", status);
  writeEnd(text);
}

void Recorder::finish(int status) {
  if (!isOn())
    return;
  writeExit(status);
  RecordFile::end();
}

off_t Recorder::finishForNow() {
  if (!isOn())
    return -1;
  flushEverywhere();
  off_t size = RecordFile::size();
  writeExit(0);
  return size;
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Writes the inside of a JSON string, as far as there is room. Allocates no
/// memory.
static void escape(llvm::StringRef text, char *to, size_t room) {
  size_t size = 0;
  for (char one : text) {
    if (size + 3 > room)
      break;
    if (one == '"' || one == '\\')
      to[size++] = '\\';
    // Control characters other than line ends are left out.
    if (one == '\n') {
      to[size++] = '\\';
      to[size++] = 'n';
    } else if (static_cast<unsigned char>(one) >= ' ') {
      to[size++] = one;
    }
  }
  to[size] = 0;
}

void Recorder::crash() {
  if (!isOn())
    return;
  // The tool may recover from the crash and continue.
  if (llvm::CrashRecoveryContext::GetCurrent())
    return flushEverywhere();
  static std::atomic<bool> isEnding{false};
  if (isEnding.exchange(true)) {
    // The end of this thread would kill the other one before it has written.
    if (recorderOfThread)
      recorderOfThread->flushNow();
    for (int tries = 0; isOn() && tries < 1000; ++tries)
      sleepFor(millisecond);
    return;
  }
  flushEverywhere();
  Engine &engine = Engine::known();
  char row[32] = "", message[4096], text[4200];
  if (engine.innermost)
    snprintf(row, sizeof(row), ",\"row\":%llu",
             static_cast<unsigned long long>(engine.innermost->ordinal - 1));
  escape(engine.end.cause(), message, sizeof(message));
  snprintf(text, sizeof(text),
           "{\"ended\":\"crash\",\"signal\":%d%s,\"message\":\"%s\"}",
           int(engine.end.crashSignal), row, message);
  writeEnd(text);
  RecordFile::end();
}

// The tool's handlers of termination signals.
static struct sigaction endActions[NSIG];

volatile int Recorder::endSignal = 0;

void Recorder::raiseEndSignal() { raise(std::exchange(endSignal, 0)); }

/// Flushes all threads, then calls the tool's own handler, which may end it.
void Recorder::onEnd(int number, siginfo_t *info, void *context) {
  if (isOn() && recorderOfThread && recorderOfThread->isBusy) {
    endSignal = number; // comes again when the buffers can be written
    return;
  }
  if (isOn())
    flushEverywhere();
  const struct sigaction &tool = endActions[number];
  if (tool.sa_flags & SA_SIGINFO)
    return tool.sa_sigaction(number, info, context);
  if (tool.sa_handler != SIG_DFL)
    return tool.sa_handler(number);
  if (isOn()) {
    char text[64];
    snprintf(text, sizeof(text), "{\"ended\":\"exit\",\"status\":%d}", -number);
    writeEnd(text);
    RecordFile::end();
  }
  ::signal(number, SIG_DFL);
  raise(number);
}

void Recorder::handleEndSignals() {
  static bool isHandled = false;
  if (std::exchange(isHandled, true))
    return;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(number, nullptr, &endActions[number]);
    if (endActions[number].sa_handler == SIG_IGN)
      continue;
    action.sa_sigaction = onEnd;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

} // namespace adbg
