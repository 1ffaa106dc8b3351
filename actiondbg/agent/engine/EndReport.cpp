//===- EndReport.cpp - Reporting the end of the tool ----------------------===//

#include "engine/EndReport.h"
#include "engine/Describe.h"
#include "engine/Engine.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

using llvm::StringRef;
using llvm::json::Object;

namespace adbg {

void EndReport::finishFiles() {
  engine.hitLog.flush();
  if (engine.skips.plan)
    engine.skips.plan->finish(engine.innermost, engine.position.ordinal);
}

void EndReport::sendExit() {
  if (!engine.isAttached() || !engine.isConnected())
    return;
  finishFiles();
  engine.connection.notify(
      "exited", Object{{"actions", int64_t(engine.position.ordinal)},
                       {"status", exitStatus & 0xff},
                       {"event", int64_t(engine.position.event)},
                       {"written", describeWritten()},
                       {"hits", describeHits(engine.breakpoints.all())}});
}

/// Runs `function` on a stack of its own: a signal handler's stack is too small
/// to print IR.
static void onLargeStack(void (*function)()) {
  size_t size = 64 << 20;
  void *stack = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED)
    return;
  static ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, function, 0);
  swapcontext(&here, &there);
}

/// Returns the message of a failed assertion, which the C library keeps for
/// debuggers.
static std::string assertionMessage() {
  struct AbortMessage {
    unsigned size;
    char text[1];
  };
  std::string words = "the tool is crashing";
  auto **message = static_cast<AbortMessage **>(
      dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
  if (message && *message)
    words += ": " + StringRef((*message)->text).rtrim().str();
  return words;
}

void EndReport::sendCrash() {
  if (!engine.isConnected())
    return;
  // The tool did not cause a crash while a request is served.
  if (engine.breakpoints.catches(CatchKind::Crash) && !engine.isSilent())
    onLargeStack(
        [] { Engine::get().caught(CatchKind::Crash, assertionMessage()); });
  finishFiles();
  Object crash = describeCrash(engine.innermost);
  crash["signal"] = int64_t(crashSignal);
  crash["written"] = describeWritten();
  crash["event"] = int64_t(engine.position.event);
  crash["hits"] = describeHits(engine.breakpoints.all());
  engine.connection.notify("crashed", std::move(crash));
}

} // namespace adbg
