//===- InterposeLimits.cpp - Limits of memory that the tool sets ----------===//
//
// Address space that the agent has reserved counts for them: what it does not
// use is given back first.
//
//===----------------------------------------------------------------------===//

#include "interpose/Interpose.h"
#include "support/AgentHeap.h"

#include <sys/resource.h>
#include <unistd.h>

using namespace adbg;

// With offsets of 64 bits, both names of each function are the same.
static void makeRoom(int resource, const struct rlimit *limit) {
  bool isOfMemory = resource == RLIMIT_AS || resource == RLIMIT_DATA;
  if (isOfMemory && limit && limit->rlim_cur != RLIM_INFINITY)
    AgentHeap::giveBack();
}

template <unsigned>
static int setLimit(const char *name, int resource, const rlimit *limit) {
  using Function = int(int, const struct rlimit *);
  static Function *const next = real<Function>(name);
  makeRoom(resource, limit);
  return next(resource, limit);
}

template <unsigned>
static int setLimitOf(const char *name, pid_t pid, int resource,
                      const struct rlimit *limit, struct rlimit *old) {
  using Function = int(pid_t, int, const struct rlimit *, struct rlimit *);
  static Function *const next = real<Function>(name);
  if (!pid || pid == getpid())
    makeRoom(resource, limit);
  return next(pid, resource, limit, old);
}

extern "C" {

#define ADBG_LIMIT(NUMBER, SUFFIX)                                             \
  ADBG_EXPORT int adbgSetLimit##SUFFIX(int, const struct rlimit *) __asm__(    \
      "setrlimit" #SUFFIX);                                                    \
  int adbgSetLimit##SUFFIX(int resource, const struct rlimit *limit) {         \
    return setLimit<NUMBER>("setrlimit" #SUFFIX, resource, limit);             \
  }                                                                            \
  ADBG_EXPORT int adbgSetLimitOf##SUFFIX(                                      \
      pid_t, int, const struct rlimit *,                                       \
      struct rlimit *) __asm__("prlimit" #SUFFIX);                             \
  int adbgSetLimitOf##SUFFIX(pid_t pid, int resource,                          \
                             const struct rlimit *limit, struct rlimit *old) { \
    return setLimitOf<NUMBER>("prlimit" #SUFFIX, pid, resource, limit, old);   \
  }

ADBG_LIMIT(0, )
ADBG_LIMIT(1, 64)
}
