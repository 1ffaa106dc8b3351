#include "detour/Instances.h"
#include "support/AgentHeap.h"

extern "C" {
/// The variables that differ by instance, from the linker; there are none in an
/// agent for one MLIR.
extern char __start_adbg_of_instance[]
    __attribute__((visibility("hidden"), weak));
extern char __stop_adbg_of_instance[]
    __attribute__((visibility("hidden"), weak));
}

namespace adbg {

bool Instances::several = false, Instances::isUnnoted = false;
unsigned Instances::now = 0;
bool (*Instances::isBusyElsewhere)() = nullptr;

Instances &Instances::all() {
  AgentHeap agentHeap;
  static Instances *instances = new Instances;
  return *instances;
}

void Instances::watch(std::vector<uint64_t *> places) {
  references = std::move(places);
}

Instances::Facts Instances::read() const {
  Facts facts;
  facts.variables.assign(__start_adbg_of_instance, __stop_adbg_of_instance);
  for (const uint64_t *place : references)
    facts.references.push_back(*place);
  return facts;
}

void Instances::write(const Facts &facts) const {
  memcpy(__start_adbg_of_instance, facts.variables.data(),
         facts.variables.size());
  for (size_t i = 0; i < references.size(); ++i)
    *references[i] = facts.references[i];
}

unsigned Instances::add(std::string file) {
  if (!used)
    none = read();
  files[used] = std::move(file);
  aside[used] = none;
  return used++;
}

void Instances::removeNewest() { files[--used].clear(); }

std::string Instances::fileOf(unsigned number) const {
  return number < used ? files[number] : "";
}

void Instances::change(unsigned to) {
  AgentHeap agentHeap;
  aside[now] = read();
  write(aside[to]);
  now = to;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {
/// The uses of this thread that changed the instance, the innermost last. They
/// are not on the stack: an exception may leave their functions unseen.
struct OwnUses {
  static constexpr unsigned most = 8;
  struct One {
    uintptr_t stack;
    unsigned instance;
  };
  One all[most];
  unsigned count;

  One *innermost() { return count ? &all[count - 1] : nullptr; }
};

/// The uses of all threads.
struct SharedUses {
  std::atomic_flag isLocked = ATOMIC_FLAG_INIT;
  /// The threads with a use, and the uses of the only one within another.
  unsigned threads = 0, inner = 0;

  void lock() {
    while (isLocked.test_and_set(std::memory_order_acquire))
      usleep(10);
  }
  void unlock() { isLocked.clear(std::memory_order_release); }
};
} // namespace

static __thread OwnUses own;
static SharedUses shared;

/// At load, as older C libraries hold a lock while a fork's handlers run, for
/// which a thread that loads MLIR must not wait.
__attribute__((constructor)) static void expectForks() {
  // Only this thread lives in a fork.
  pthread_atfork(nullptr, nullptr, [] {
    shared.isLocked.clear();
    shared.threads = own.count != 0;
    shared.inner = own.count ? own.count - 1 : 0;
  });
}

void Instances::becomeSeveral() {
  if (several)
    return;
  several = true;
  isUnnoted = isBusyElsewhere && isBusyElsewhere();
}

/// Ends the innermost use of this thread.
static void endInnermost() {
  std::lock_guard locked(shared);
  --own.count;
  if (OwnUses::One *outer = own.innermost()) {
    --shared.inner;
    Instances::all().change(outer->instance);
  } else {
    --shared.threads;
  }
}

void InstanceUse::drop(uintptr_t stack) {
  while (own.count && own.innermost()->stack < stack)
    endInnermost();
}

/// Begins a use, unless another thread uses another instance.
static bool tryBegin(unsigned instance, uintptr_t stack) {
  std::lock_guard locked(shared);
  bool isInner = own.count != 0;
  if (own.count == OwnUses::most || (shared.inner && !isInner))
    return false;
  if (instance != Instances::current()) {
    if (shared.threads != unsigned(isInner))
      return false;
    Instances::all().change(instance);
  }
  own.all[own.count++] = {stack, instance};
  ++(isInner ? shared.inner : shared.threads);
  return true;
}

InstanceUse::InstanceUse(unsigned instance, bool isPatient) {
  auto stack = reinterpret_cast<uintptr_t>(this);
  drop(stack);
  const OwnUses::One *outer = own.innermost();
  if (outer && outer->instance == instance)
    return;
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now() + std::chrono::seconds(isPatient ? 1 : 0);
  while (!(isNoted = tryBegin(instance, stack)) && Clock::now() < last)
    usleep(200);
  isUsed = isNoted;
}

InstanceUse::~InstanceUse() {
  if (isNoted)
    drop(reinterpret_cast<uintptr_t>(this) + 1);
}

} // namespace adbg
