#include "engine/EndReport.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "fork/Forks.h"
#include "requests/Request.h"

#include <ucontext.h>

namespace adbg {

struct AbortMessage {
  unsigned size;
  char text[1];
};

EndReport::EndReport(Engine &engine)
    : engine(engine), abortMessage(static_cast<AbortMessage **>(dlvsym(
                          RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"))) {}

void EndReport::finishFiles() {
  engine.hitLog.file.flush();
  engine.legalizations.file.flush();
  if (engine.skips.plan)
    engine.skips.plan->finish(engine.innermost, engine.position.ordinal);
  finishAlternative(engine);
}

void EndReport::exit() {
  Recorder::finish(exitStatus);
  sendExit();
}

void EndReport::sendExit() {
  if (!engine.isAttached() || !engine.isConnected())
    return;
  // Another thread may be at a stop, and those that wait are not to begin.
  Turn turn(engine, Turn::For::End);
  finishFiles();
  engine.trace.end(engine.position.ordinal);
  Object exited{{"actions", int64_t(engine.position.ordinal)},
                {"status", exitStatus & 0xff},
                {"event", int64_t(engine.position.event)},
                {"written", describeWritten()},
                {"hits", describeHits(engine.breakpoints.all())}};
  engine.trace.describe(exited);
  exited["unforkable"] = engine.turns.unforkableJson();
  engine.connection.notify("exited", std::move(exited));
  // Threads that are left run on.
  if (engine.turns.isShared())
    engine.abandon();
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

/// Returns the message with which LLVM aborts, at the end of what the tool
/// wrote to stderr; empty if there is none.
static StringRef fatalMessage(StringRef written) {
  written = written.rtrim();
  StringRef last = written.substr(written.rfind('\n') + 1);
  if (last.starts_with("LLVM ERROR: "))
    return last;
  // llvm_unreachable writes its message in the line before.
  if (!last.contains("UNREACHABLE executed"))
    return "";
  StringRef before = written.drop_back(last.size()).rtrim();
  return written.substr(before.rfind('\n') + 1);
}

void EndReport::noteCause() {
  static char written[Files::keptErrors];
  AbortMessage *failed = abortMessage ? *abortMessage : nullptr;
  StringRef message = failed
                          ? StringRef(failed->text).rtrim()
                          : fatalMessage({written, Files::lastErrors(written)});
  causeSize = std::min(message.size(), sizeof(causeText));
  memcpy(causeText, message.data(), causeSize);
}

void EndReport::crash(int signal) {
  crashSignal = signal;
  if (std::exchange(isCrashing, true))
    return;
  noteCause();
  // The tool did not cause a crash while a request is served.
  Turn turn(engine, Turn::For::End);
  bool isWanted = stopsOnCrash || engine.breakpoints.catches(CatchKind::Crash);
  if (isWanted && engine.isConnected() && turn)
    onLargeStack([] {
      EndReport &end = Engine::get().end;
      std::string text = signalName(end.crashSignal);
      if (!end.cause().empty())
        text += ": " + end.cause().str();
      Engine::get().caught(CatchKind::Crash, text);
    });
  // The tool may recover from a crash, and crash again.
  isCrashing = false;
}

void EndReport::sendCrash() {
  if (!engine.isConnected())
    return;
  // The stack is that of the thread that has the turn.
  Turn turn(engine, Turn::For::End);
  finishFiles();
  Object crash =
      describeCrash(engine.hasFramesHere() ? engine.innermost : nullptr);
  crash["signal"] = int64_t(crashSignal);
  crash["message"] = cause().empty() ? nullptr : Json(cause());
  crash["written"] = describeWritten();
  crash["event"] = int64_t(engine.position.event);
  crash["hits"] = describeHits(engine.breakpoints.all());
  engine.trace.describe(crash);
  crash["unforkable"] = engine.turns.unforkableJson();
  engine.connection.notify("crashed", std::move(crash));
}

} // namespace adbg
