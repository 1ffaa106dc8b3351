#include "engine/Engine.h"
#include "fork/Forks.h"

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

// Whether this thread handles a crash.
static thread_local volatile bool isInCrash = false;

static void raiseUnhandled(int number) {
  ::signal(number, SIG_DFL);
  raise(number);
}

/// Whether the tool's handler of a crash is called: a replay recovers where the
/// tool did, and does nothing else that the handler would.
static bool isToolCalled(Role role) {
  return role == Role::Tool || (role == Role::Replica && tool::crashRecovery &&
                                tool::crashRecovery());
}

static void onCrash(int number, siginfo_t *info, void *context) {
  // A handler of the tool puts back the one that was there before its own,
  // ours, and raises the signal again.
  if (isInCrash)
    return raiseUnhandled(number);
  isInCrash = true;
  Files::showErrors();
  Engine &engine = Engine::known();
  engine.end.crash(number);
  Recorder::crash();
  struct sigaction &tool = toolActions[number];
  // LLVM's handler calls no function of ours, and does not return. A tool that
  // recovers goes on: what it reports later replaces this.
  engine.end.sendCrash();
  bool isCalled = isToolCalled(engine.forks.role);
  if (isCalled && (tool.sa_flags & SA_SIGINFO)) {
    tool.sa_sigaction(number, info, context);
    isInCrash = false;
    return;
  }
  if (isCalled && tool.sa_handler != SIG_DFL && tool.sa_handler != SIG_IGN) {
    tool.sa_handler(number);
    isInCrash = false;
    return;
  }
  raiseUnhandled(number);
}

void leaveCrash() { isInCrash = false; }

static bool isOurs(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == onCrash;
}

static bool isHandled = false;

void handleCrashSignals() {
  isHandled = true;
  for (const auto &[number, name] : crashes) {
    struct sigaction action = {};
    struct sigaction before;
    action.sa_sigaction = onCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, &before) != 0)
      continue;
    // In a fork of a fork the handler is already ours.
    if (!isOurs(before))
      toolActions[number] = before;
  }
}

void keepCrashSignals() {
  struct sigaction action;
  if (isHandled && sigaction(SIGABRT, nullptr, &action) == 0 && !isOurs(action))
    handleCrashSignals();
}

} // namespace adbg
