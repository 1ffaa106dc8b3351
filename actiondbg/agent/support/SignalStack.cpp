#include "support/SignalStack.h"
#include "support/System.h"

namespace adbg {

// A crash is a stop, whose requests print IR. Pages that are not touched take
// no memory.
static constexpr size_t signalStackSize = size_t(1) << 20;

/// Frees the stack of a thread that ends.
static void removeSignalStack(void *memory) {
  stack_t now = {};
  bool isInUse = sigaltstack(nullptr, &now) != 0 || now.ss_flags & SS_ONSTACK;
  if (isInUse || now.ss_sp != memory)
    return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  if (sigaltstack(&none, nullptr) == 0)
    munmap(memory, signalStackSize);
}

void ensureSignalStack() {
  static __thread bool isEnsured = false;
  if (std::exchange(isEnsured, true))
    return;
  stack_t now = {};
  if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
    return;
  static pthread_key_t atThreadEnd;
  static const bool hasKey =
      pthread_key_create(&atThreadEnd, removeSignalStack) == 0;
  if (!hasKey)
    return;
  void *memory =
      mmap(nullptr, signalStackSize, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return;
  stack_t ours = {};
  ours.ss_sp = memory;
  ours.ss_size = signalStackSize;
  if (sigaltstack(&ours, nullptr) != 0)
    munmap(memory, signalStackSize);
  else
    pthread_setspecific(atThreadEnd, memory);
}

} // namespace adbg
