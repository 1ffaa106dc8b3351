//===- InterposeExits.cpp - Ends of a process, and programs that it starts ===//
//
// Workers of Python's multiprocessing end by _exit, and a wrapper may exec the
// next program. Neither runs the agent's destructor: the recording is completed
// here, and the front end is told.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "interpose/SeenPrograms.h"

#include <alloca.h>
#include <cstdarg>
#include <spawn.h>

using namespace adbg;

/// Whether this is the process that is debugged or recorded, in code of its
/// own. A child of vfork shares its memory; a signal handler may interrupt the
/// agent.
static bool isOurs() {
  return Engine::first().isOwnProcess() && !AgentHeap::isUsed();
}

[[noreturn]] static void leave(int status) {
  if (isOurs()) {
    AgentHeap agentHeap;
    EndReport &end = Engine::first().end;
    end.exitStatus = status;
    end.exit();
  }
  exitAtOnce(status);
}

template <typename... Operands> class Exec {
public:
  using Function = int(Operands...);
  explicit Exec(const char *symbol) : next(real<Function>(symbol)) {}

  int operator()(Operands... operands) const {
    if (!isOurs() || !Recorder::isOn())
      return next(operands...);
    off_t size;
    {
      AgentHeap agentHeap;
      size = Recorder::finishForNow();
    }
    int result = next(operands...);
    int error = errno;
    RecordFile::cutTo(size);
    errno = error;
    return result;
  }

private:
  Function *next;
};

using Words = char *const *;

namespace {
/// The functions of the C library, looked up early: a child of vfork must not.
struct Execs {
  Exec<const char *, Words, Words> execve{"execve"}, execvpe{"execvpe"};
  Exec<int, Words, Words> fexecve{"fexecve"};
};
} // namespace

static const Execs &execs() {
  static const Execs *all = new Execs;
  return *all;
}

__attribute__((constructor)) static void findExecs() { execs(); }

/// Calls `exec` with the words of a function that takes them one by one up to a
/// null, and with the environment: the one behind the null, if it takes one.
static int execListed(const char *first, va_list rest, bool takesEnvironment,
                      function_ref<int(Words, Words)> exec) {
  va_list again;
  va_copy(again, rest);
  size_t size = 1;
  for (const char *word = first; word; word = va_arg(again, const char *))
    ++size;
  va_end(again);
  auto **words = static_cast<char **>(alloca(size * sizeof(char *)));
  char **end = words;
  for (const char *word = first; word; word = va_arg(rest, const char *))
    *end++ = const_cast<char *>(word);
  *end = nullptr;
  return exec(words, takesEnvironment ? va_arg(rest, Words) : environ);
}

extern "C" {

#define ADBG_EXIT(NAME, SYMBOL)                                                \
  [[noreturn]] ADBG_EXPORT void NAME(int status) __asm__(SYMBOL);              \
  void NAME(int status) { leave(status); }

ADBG_EXIT(exitPlainly, "_exit")
ADBG_EXIT(exitOfC99, "_Exit")

ADBG_LIBC(int, replaceBy, "execve", const char *path, Words words,
          Words environment) {
  return execNoted(path, environment, [=](Words chosen) {
    return execs().execve(path, words, chosen);
  });
}

ADBG_LIBC(int, replaceByFound, "execvpe", const char *file, Words words,
          Words environment) {
  return execNoted(file, environment, [=](Words chosen) {
    return execs().execvpe(file, words, chosen);
  });
}

ADBG_LIBC(int, replaceHere, "execv", const char *path, Words words) {
  return replaceBy(path, words, environ);
}

ADBG_LIBC(int, replaceByFoundHere, "execvp", const char *file, Words words) {
  return replaceByFound(file, words, environ);
}

#define ADBG_LISTED(NAME, SYMBOL, TAKES_ENVIRONMENT, EXEC)                     \
  ADBG_LIBC(int, NAME, SYMBOL, const char *path, const char *first, ...) {     \
    va_list rest;                                                              \
    va_start(rest, first);                                                     \
    int result = execListed(first, rest, TAKES_ENVIRONMENT,                    \
                            [=](Words words, Words environment) {              \
                              return EXEC(path, words, environment);           \
                            });                                                \
    va_end(rest);                                                              \
    return result;                                                             \
  }

ADBG_LISTED(replaceByListed, "execl", false, replaceBy)
ADBG_LISTED(replaceByListedIn, "execle", true, replaceBy)
ADBG_LISTED(replaceByFoundListed, "execlp", false, replaceByFound)

ADBG_LIBC(int, replaceByFile, "fexecve", int file, Words words,
          Words environment) {
  return execs().fexecve(file, words, environment);
}

#define ADBG_SPAWN(NAME, SYMBOL)                                               \
  ADBG_LIBC(int, NAME, SYMBOL, pid_t *pid, const char *path,                   \
            const posix_spawn_file_actions_t *actions,                         \
            const posix_spawnattr_t *attributes, Words words,                  \
            Words environment) {                                               \
    static auto *const next = real<decltype(NAME)>(SYMBOL);                    \
    return startNoted(path, environment, [=](Words chosen) {                   \
      return next(pid, path, actions, attributes, words, chosen);              \
    });                                                                        \
  }

ADBG_SPAWN(spawn, "posix_spawn")
ADBG_SPAWN(spawnFound, "posix_spawnp")
}
