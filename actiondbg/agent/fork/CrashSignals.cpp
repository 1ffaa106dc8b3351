//===- CrashSignals.cpp - The signals of crashes --------------------------===//

#include "fork/CrashSignals.h"
#include "engine/Engine.h"

#include <csignal>

namespace adbg {

namespace {
struct Signal {
  int number;
  const char *name;
};
} // namespace

static constexpr Signal crashes[] = {
    {SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}};

const char *signalName(int number) {
  for (const Signal &one : crashes)
    if (one.number == number)
      return one.name;
  return "an unknown signal";
}

// The tool's handlers of crash signals.
static struct sigaction toolActions[NSIG];

static void onCrash(int number, siginfo_t *info, void *context) {
  Files::showErrors();
  Engine &engine = Engine::known();
  engine.end.crash(number);
  Recorder::crash();
  struct sigaction &tool = toolActions[number];
#ifdef ADBG_PORTABLE
  // LLVM's handler calls no function of ours, and does not return. A tool that
  // recovers goes on: what it reports later replaces this.
  engine.end.sendCrash();
#endif
  if (engine.forks.role == Role::Tool && (tool.sa_flags & SA_SIGINFO))
    return tool.sa_sigaction(number, info, context);
  if (engine.forks.role == Role::Tool && tool.sa_handler != SIG_DFL &&
      tool.sa_handler != SIG_IGN)
    return tool.sa_handler(number);
#ifndef ADBG_PORTABLE
  engine.end.sendCrash();
#endif
  ::signal(number, SIG_DFL);
  raise(number);
}

void handleCrashSignals() {
  for (const auto &[number, name] : crashes) {
    struct sigaction action = {};
    struct sigaction before;
    action.sa_sigaction = onCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, &before) != 0)
      continue;
    // In a fork of a fork the handler is already ours.
    bool isOurs =
        (before.sa_flags & SA_SIGINFO) && before.sa_sigaction == onCrash;
    if (!isOurs)
      toolActions[number] = before;
  }
}

} // namespace adbg
