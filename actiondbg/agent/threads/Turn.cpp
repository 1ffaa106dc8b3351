//===- Turn.cpp - One outermost action of a thread ------------------------===//

#include "threads/Turn.h"
#include "engine/Engine.h"
#include "print/ValueKeys.h"
#include "support/AgentHeap.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

using llvm::json::Object;
using Json = llvm::json::Value;

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
    Engine::local.isFollowed = Engine::local.isInside = false;
    self.engine.innermost = nullptr;
    self.current = nullptr;
    self.baton.give();
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
  for (int tries = 0; tries < 100; ++tries) {
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

Turn::Turn(Engine &engine, For what, unsigned context)
    : engine(engine), context(context) {
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
  if (take(what))
    return;
  // The end of the process is reported all the same.
  if (what != For::Action)
    return;
  isPassing = local.isPassing = true;
  ++engine.turns.unfollowed;
  ++record->unfollowed;
}

bool Turn::take(For what) {
  AgentHeap agentHeap;
  Turns &turns = engine.turns;
  Engine::ThreadState &local = Engine::local;
  if (what == For::Action) {
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
  if (LLVM_UNLIKELY(!local.isFollowed && !turns.isShared()))
    turns.share();
  // While others ran, IR changed without being observed.
  if (turns.isShared())
    engine.observer.edited();
  local.isFollowed = local.isInside = isFollowed = true;
  thread = ThreadList::own();
  firstOrdinal = engine.position.ordinal;
  if (record)
    turns.current = this;
  return true;
}

Turn::~Turn() {
  Engine::ThreadState &local = Engine::local;
  if (isPassing)
    local.isPassing = false;
  if (!isTaken)
    return;
  Turns &turns = engine.turns;
  if (record) {
    AgentHeap agentHeap;
    record->actions += actions();
    Contexts::all().ran(context, thread, actions());
    turns.current = nullptr;
  }
  local.isInside = false;
  local.isFollowed = !turns.isShared();
  turns.baton.give();
}

uint64_t Turn::actions() const {
  return engine.position.ordinal - firstOrdinal;
}

//===----------------------------------------------------------------------===//
// As JSON
//===----------------------------------------------------------------------===//

Json contextJson(unsigned number) {
  llvm::StringRef name = Contexts::all().nameOf(number);
  return name.empty() ? Json(nullptr) : Json(name);
}

Json Turns::unforkableJson() const {
  std::optional<std::string> why = whyNoFork();
  return why ? Json(std::move(*why)) : Json(nullptr);
}

void Turns::describe(Object &stop) const {
  int thread = current ? current->threadNumber() : ThreadList::own();
  stop["thread"] =
      thread < 0 ? Json(nullptr) : Json(ThreadList::nameOf(thread));
  stop["threads"] = int64_t(threads.count());
  unsigned here = current ? current->contextNumber() : Contexts::unknown;
  stop["contexts"] = int64_t(Contexts::all().countUsed(here));
  stop["unforkable"] = unforkableJson();
}

llvm::json::Array Turns::describeContexts() const {
  llvm::json::Array all;
  unsigned number = 0;
  for (Contexts::Record &one : Contexts::all().list()) {
    bool isCurrent = current && current->contextNumber() == number;
    if (isCurrent) {
      one.thread = current->threadNumber();
      one.actions += current->actions();
    }
    const char *state = !one.isLive ? "destroyed"
                        : isCurrent ? "stopped"
                                    : "idle";
    ++number;
    all.push_back(Object{{"name", one.name},
                         {"thread", one.thread < 0
                                        ? Json(nullptr)
                                        : Json(ThreadList::nameOf(one.thread))},
                         {"state", state},
                         {"actions", int64_t(one.actions)}});
  }
  return all;
}

/// The name that the program gave to a thread.
static std::string nameOfThread(pid_t id) {
  char path[64], text[32];
  snprintf(path, sizeof(path), "/proc/self/task/%d/comm", int(id));
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : ::read(fd, text, sizeof(text));
  if (fd >= 0)
    ::close(fd);
  return llvm::StringRef(text, size > 0 ? size : 0).rtrim().str();
}

llvm::json::Array Turns::describeThreads() {
  llvm::json::Array all;
  threads.each([&](int number, ThreadList::Record &one) {
    bool isCurrent = current && current->threadNumber() == number;
    uint64_t actions = one.actions + (isCurrent ? current->actions() : 0);
    const char *state = one.isOver      ? "ended"
                        : isCurrent     ? "stopped"
                        : one.isWaiting ? "waiting"
                                        : "running";
    all.push_back(Object{
        {"name", ThreadList::nameOf(number)},
        {"id", int64_t(one.id)},
        {"title", one.isOver ? Json(nullptr)
                             : Json(llvm::json::fixUTF8(nameOfThread(one.id)))},
        {"state", state},
        {"context", contextJson(one.context)},
        {"actions", int64_t(actions)},
        {"unfollowed", int64_t(one.unfollowed)}});
  });
  return all;
}

} // namespace adbg
