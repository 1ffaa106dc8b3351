//===- Forks.cpp - Forks of the tool at the same position -----------------===//

#include "fork/Forks.h"
#include "fork/CrashSignals.h"
#include "fork/ProcessTitle.h"
#include "fork/QuietFork.h"
#include "fork/SilentStreams.h"
#include "interpose/SeenPrograms.h"
#include "support/Connection.h"
#include "support/ExitAtOnce.h"

#include <csignal>
#include <unistd.h>

namespace adbg {

const char *textOf(Role role) {
  switch (role) {
  case Role::Tool:
    return "tool";
  case Role::Checkpoint:
    return "checkpoint";
  case Role::Replica:
    return "replica";
  case Role::Trial:
    return "trial";
  }
  return "";
}

static void ignoreInterrupts() {
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    ::signal(number, SIG_DFL);
}

void Forks::become(const ForkSettings &settings) {
  role = settings.role;
  titleAsCheckpoint(role == Role::Checkpoint);
  // A tool replays until it takes the place of the one before: see settle().
  noteDebugged(/*isReplay=*/role != Role::Checkpoint);
  connection.abandon();
  if (role == Role::Replica || role == Role::Trial)
    checkpoints = Checkpoints();
  // Its end must not remove files of the tool, unless it is the tool.
  setFork(role != Role::Tool);
  SilentStreams::end();
  Files::noteFork();
  // Output in the wrong file would be judged by an oracle.
  if (!files.redirect(settings.outputs))
    exitAtOnce(1);
  switch (role) {
  case Role::Tool:
    files.reopen(settings.shared, !settings.muted);
    files.mute(settings.muted.value_or(ShownOutput()), settings.shared);
    handleCrashSignals();
    break;
  case Role::Trial:
    handleCrashSignals();
    break;
  case Role::Checkpoint:
    break;
  case Role::Replica:
    Files::discard();
    handleCrashSignals();
    ignoreInterrupts();
    break;
  }
  connection = Connection();
  connection.open(settings.socket);
}

pid_t Forks::fork(const ForkSettings &settings,
                  function_ref<void()> onConnect) {
  // The files of a frozen process are as its parent noted them: the shared
  // offsets may have moved since.
  if (!isFrozen)
    files.note();
  pid_t pid = forkQuietly();
  if (pid == 0) {
    isFrozen = settings.role == Role::Checkpoint && settings.outputs.isEmpty();
    become(settings);
    onConnect();
  }
  return pid;
}

pid_t Forks::forkCheckpoint(uint64_t event, function_ref<int64_t()> clock,
                            function_ref<void()> onConnect) {
  ForkSettings settings;
  settings.role = Role::Checkpoint;
  settings.socket = checkpoints.socketPath();
  int64_t began = clock();
  pid_t pid = fork(settings, onConnect);
  if (pid > 0)
    checkpoints.made(pid, event, began, clock() - began);
  return pid;
}

} // namespace adbg
