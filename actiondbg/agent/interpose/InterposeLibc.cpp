//===- InterposeLibc.cpp - Functions of the C library ---------------------===//
//
// Workers of Python's multiprocessing end by _exit, and a wrapper may exec the
// next program. Neither runs the agent's destructor: the recording is completed
// here, and the front end is told.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "interpose/SeenPrograms.h"
#include "support/Registers.h"

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

static const Execs &execs() { return immortal<Execs>(); }

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

//===----------------------------------------------------------------------===//
// Actions that are left by longjmp
//
// A tool that recovers from a crash, as llvm::CrashRecoveryContext does, leaves
// its actions without an end. Their frames must be dropped while they are still
// in memory: the tool's next calls overwrite them.
//===----------------------------------------------------------------------===//

namespace {
enum class Function : uint8_t { Plain, Fast, Signals, Checked };
} // namespace

using Jump = void(__jmp_buf_tag *, int);

static Jump *nextJump(Function function) {
  // Looked up early: a jump may leave a signal handler.
  static Jump *const next[] = {real<Jump>("longjmp"), real<Jump>("_longjmp"),
                               real<Jump>("siglongjmp"),
                               real<Jump>("__longjmp_chk")};
  return next[static_cast<unsigned>(function)];
}

__attribute__((constructor)) static void findJumps() {
  nextJump(Function::Plain);
}

[[noreturn]] static void jump(Function function, __jmp_buf_tag *buffer,
                              int value) {
  if (uintptr_t stack = stackAfter(buffer))
    Engine::jumps(stack);
  nextJump(function)(buffer, value);
  __builtin_unreachable();
}

extern "C" {

#define ADBG_JUMP(NAME, SYMBOL, FUNCTION)                                      \
  ADBG_LIBC(void, NAME, SYMBOL, __jmp_buf_tag *buffer, int value) {            \
    jump(Function::FUNCTION, buffer, value);                                   \
  }

ADBG_JUMP(jumpPlainly, "longjmp", Plain)
ADBG_JUMP(jumpFast, "_longjmp", Fast)
ADBG_JUMP(jumpWithSignals, "siglongjmp", Signals)
ADBG_JUMP(jumpChecked, "__longjmp_chk", Checked)
}

//===----------------------------------------------------------------------===//
// Limits of memory that the tool sets
//
// Address space that the agent has reserved counts for the limits: the agent
// gives back what it does not use.
//===----------------------------------------------------------------------===//

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
