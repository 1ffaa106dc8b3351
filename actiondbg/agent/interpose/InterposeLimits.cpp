//===- InterposeLimits.cpp - Limits of memory that the tool sets ----------===//
//
// Address space that the agent has reserved counts for the limits: the agent
// gives back what it does not use.
//
//===----------------------------------------------------------------------===//

#include "interpose/Interpose.h"
#include "support/AgentHeap.h"

using namespace adbg;

static void makeRoom(int resource, const struct rlimit *limit) {
  bool isOfMemory = resource == RLIMIT_AS || resource == RLIMIT_DATA;
  if (isOfMemory && limit && limit->rlim_cur != RLIM_INFINITY)
    AgentHeap::giveBack();
}

extern "C" {

ADBG_LIBC(int, setLimit, "setrlimit", int resource,
          const struct rlimit *limit) {
  static auto *next = real<decltype(setLimit)>("setrlimit");
  makeRoom(resource, limit);
  return next(resource, limit);
}

ADBG_LIBC(int, setLimitOf, "prlimit", pid_t pid, int resource,
          const struct rlimit *limit, struct rlimit *old) {
  static auto *next = real<decltype(setLimitOf)>("prlimit");
  if (!pid || pid == getpid())
    makeRoom(resource, limit);
  return next(pid, resource, limit, old);
}

// Where all offsets have 64 bits, these are the same functions.
ADBG_EXPORT int setLimit64(int, const struct rlimit *) __asm__("setrlimit64")
    __attribute__((alias("setrlimit")));
ADBG_EXPORT int setLimitOf64(pid_t, int, const struct rlimit *,
                             struct rlimit *) __asm__("prlimit64")
    __attribute__((alias("prlimit")));
}
