//===- InterposeSpawns.cpp - Programs that a process starts ---------------===//
//
// Those that it becomes by exec are in InterposeExits.cpp.
//
//===----------------------------------------------------------------------===//

#include "interpose/Interpose.h"
#include "interpose/SeenPrograms.h"

#include <spawn.h>

using namespace adbg;

using Words = char *const *;
using Spawn = int(pid_t *, const char *, const posix_spawn_file_actions_t *,
                  const posix_spawnattr_t *, Words, Words);

extern "C" {

#define ADBG_SPAWN(NAME, SYMBOL)                                               \
  ADBG_EXPORT int NAME(pid_t *pid, const char *path,                           \
                       const posix_spawn_file_actions_t *actions,              \
                       const posix_spawnattr_t *attributes, Words words,       \
                       Words environment) __asm__(SYMBOL);                     \
  int NAME(                                                                    \
      pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
      const posix_spawnattr_t *attributes, Words words, Words environment) {   \
    static Spawn *const next = real<Spawn>(SYMBOL);                            \
    return startNoted(path, environment, [=](Words chosen) {                   \
      return next(pid, path, actions, attributes, words, chosen);              \
    });                                                                        \
  }

ADBG_SPAWN(spawn, "posix_spawn")
ADBG_SPAWN(spawnFound, "posix_spawnp")
}
