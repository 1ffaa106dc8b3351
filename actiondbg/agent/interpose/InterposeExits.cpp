//===- InterposeExits.cpp - Ends of a process without destructors ---------===//
//
// Workers of Python's multiprocessing end by _exit, and a wrapper may exec the
// next program. Neither runs the agent's destructor: the recording is completed
// here, and the front end is told.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "interpose/SeenPrograms.h"
#include "support/AgentHeap.h"
#include "support/ExitAtOnce.h"

#include <cerrno>

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

extern "C" {

#define ADBG_EXIT(NAME, SYMBOL)                                                \
  [[noreturn]] ADBG_EXPORT void NAME(int status) __asm__(SYMBOL);              \
  void NAME(int status) { leave(status); }

ADBG_EXIT(exitPlainly, "_exit")
ADBG_EXIT(exitOfC99, "_Exit")

ADBG_EXPORT int replaceBy(const char *path, Words words,
                          Words environment) __asm__("execve");
int replaceBy(const char *path, Words words, Words environment) {
  return execNoted(path, environment, [=](Words chosen) {
    return execs().execve(path, words, chosen);
  });
}

ADBG_EXPORT int replaceByFound(const char *file, Words words,
                               Words environment) __asm__("execvpe");
int replaceByFound(const char *file, Words words, Words environment) {
  return execNoted(file, environment, [=](Words chosen) {
    return execs().execvpe(file, words, chosen);
  });
}

ADBG_EXPORT int replaceHere(const char *path, Words words) __asm__("execv");
int replaceHere(const char *path, Words words) {
  return replaceBy(path, words, environ);
}

ADBG_EXPORT int replaceByFoundHere(const char *file,
                                   Words words) __asm__("execvp");
int replaceByFoundHere(const char *file, Words words) {
  return replaceByFound(file, words, environ);
}

ADBG_EXPORT int replaceByFile(int file, Words words,
                              Words environment) __asm__("fexecve");
int replaceByFile(int file, Words words, Words environment) {
  return execs().fexecve(file, words, environment);
}
}
