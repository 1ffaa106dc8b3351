#include "threads/Turn.h"
#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "print/ValueKeys.h"
#include "support/SignalStack.h"

#include <linux/futex.h>
#include <linux/membarrier.h>

namespace adbg {

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

static pthread_key_t atThreadEnd;

Turns::Turns(Engine &engine) : baton(engine.position.event), engine(engine) {}

void Turns::begin() {
  pthread_key_create(&atThreadEnd, leave);
  pthread_setspecific(atThreadEnd, this);
  home.isFollowed = &Engine::local.isFollowed;
  home.agentHeapUses = AgentHeap::usesOfThread();
  home.id = threadId();
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void Turns::leave(void *turns) {
  Turns &self = *static_cast<Turns *>(turns);
  self.threads.leave();
  {
    std::lock_guard<std::mutex> lock(self.home.mutex);
    if (self.home.id == threadId())
      self.home.isFollowed = nullptr;
  }
  // It ended inside its action.
  if (Engine::local.isInside) {
    self.engine.innermost = nullptr;
    Engine::local.turn = nullptr;
    self.end();
    Engine::local.isFollowed = false;
  }
}

void Turns::share() {
  shared = true;
  BlockKeys::all().share();
  std::lock_guard<std::mutex> lock(home.mutex);
  if (!home.isFollowed)
    return;
  // It is outside of actions, as this thread has the baton. What it runs of the
  // agent, for IR that it creates there, is over soon.
  __atomic_store_n(home.isFollowed, false, __ATOMIC_SEQ_CST);
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  for (int tries = 0; tries < 20; ++tries) {
    usleep(1000);
    if (__atomic_load_n(home.agentHeapUses, __ATOMIC_ACQUIRE) == 0)
      break;
  }
}

std::optional<std::string> Turns::whyNoFork() const {
  if (!isShared() && unfollowed == 0)
    return std::nullopt;
  return "its actions run in several threads: a fork has only one, and another "
         "run has another order";
}

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

bool Turns::passesInterrupt() {
  if (Engine::local.isInside)
    return false;
  pid_t other = baton.holder();
  if (!other && !Engine::local.isFollowed)
    other = home.id;
  if (!other || other == threadId())
    return false;
  int saved = errno;
  bool isPassed = syscall(SYS_tgkill, getpid(), other, SIGIO) == 0;
  errno = saved;
  return isPassed;
}

void Turns::stopInside() {
  if (Engine::local.isInside) {
    if (engine.follows())
      engine.stopInside();
    return;
  }
  if (Engine::local.isPassing || engine.silent || !baton.tryTake())
    return;
  bool wasFollowed = std::exchange(Engine::local.isFollowed, true);
  Engine::local.isInside = true;
  engine.stopInside();
  Engine::local.isInside = false;
  Engine::local.isFollowed = wasFollowed;
  baton.give();
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

Turn::Turn(Engine &engine, For what, unsigned context) : engine(engine) {
  Engine::ThreadState &local = Engine::local;
  if (engine.isObserving || !engine.attached) {
    isFollowed = engine.follows();
    return;
  }
  if (local.isPassing && what != For::End) {
    engine.turns.unfollowed += what == For::Action;
    if (what == For::Action)
      ++engine.turns.threads.enter().unfollowed;
    return;
  }
  if (local.isFollowed && (local.isInside || engine.silent)) {
    isFollowed = !engine.silent;
    return;
  }
  // While it attaches, a thread has the baton without a turn: at a crash there
  // it would wait for itself.
  if (what == For::End && engine.turns.baton.holder() == threadId())
    return;
  if (take(what, context))
    return;
  // The end of the process is reported all the same.
  if (what != For::Action)
    return;
  isPassing = local.isPassing = true;
  local.turn = this;
  ++engine.turns.unfollowed;
  ++record->unfollowed;
}

bool Turn::take(For what, unsigned context) {
  Turns &turns = engine.turns;
  if (what == For::Action) {
    // Not while it waits: see Turns::share.
    AgentHeap agentHeap;
    bool isFirst = ThreadList::own() < 0;
    record = &turns.threads.enter();
    record->context = context;
    if (LLVM_UNLIKELY(isFirst))
      pthread_setspecific(atThreadEnd, &turns);
    record->isWaiting = true;
  }
  isTaken = turns.baton.take(what == For::End ? Baton::Patience::Always
                                              : Baton::Patience::AsSet);
  if (record)
    record->isWaiting = false;
  if (!isTaken)
    return false;
  // The front end may have gone meanwhile.
  if (LLVM_UNLIKELY(!engine.attached)) {
    turns.baton.give();
    isTaken = false;
    return true;
  }
  turns.start(context, record);
  Engine::local.turn = this;
  isFollowed = true;
  return true;
}

Turn::~Turn() {
  if (isPassing || isTaken)
    end();
}

void Turn::end() {
  Engine::local.turn = nullptr;
  if (isPassing)
    Engine::local.isPassing = false;
  if (isTaken)
    engine.turns.end();
}

void Turns::start(unsigned context, ThreadList::Record *record) {
  Engine::ThreadState &local = Engine::local;
  if (LLVM_UNLIKELY(!local.isFollowed && !isShared()))
    share();
  // While others ran, IR changed without being observed.
  if (isShared())
    engine.observer.edited();
  local.isFollowed = local.isInside = true;
  current = {record, context, ThreadList::own(), engine.position.ordinal};
}

uint64_t Turns::actions() const {
  return engine.position.ordinal - current.firstOrdinal;
}

void Turns::end() {
  if (current.record) {
    AgentHeap agentHeap;
    current.record->actions += actions();
    Contexts::all().ran(current.context, current.thread, actions());
  }
  current = Current();
  Engine::local.isInside = false;
  Engine::local.isFollowed = !isShared();
  baton.give();
}

//===----------------------------------------------------------------------===//
// The threads that ran actions
//===----------------------------------------------------------------------===//

__thread int ThreadList::number = -1;
__thread ThreadList::Record *ThreadList::known = nullptr;

ThreadList::Record &ThreadList::enter() {
  if (known)
    return *known;
  ensureSignalStack();
  std::lock_guard<std::mutex> lock(mutex);
  records.emplace_back();
  number = int(records.size() - 1);
  known = &records.back();
  known->id = threadId();
  size = records.size();
  return *known;
}

void ThreadList::leave() {
  if (known)
    known->isOver = true;
}

//===----------------------------------------------------------------------===//
// The thread whose actions are followed
//===----------------------------------------------------------------------===//

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
    // The holder may sleep while a fork that the agent made computes.
    if (now != seen || isStopped || computationsInForks || !isHolderAsleep()) {
      seen = now;
      since = millisecondsNow();
    } else if (millisecondsNow() - since >= stuckMilliseconds) {
      stuckAt = seen;
      return false;
    }
  }
}

} // namespace adbg
