//===- Fork.cpp - Requests about forks of the tool ------------------------===//

#include "engine/Engine.h"
#include "interpose/SeenPrograms.h"
#include "requests/Request.h"
#include "support/ExitAtOnce.h"

namespace adbg {

static Role roleOf(Fields &fields) {
  std::string name = fields.text("role");
  for (Role role : {Role::Tool, Role::Checkpoint, Role::Replica, Role::Trial})
    if (name == textOf(role))
      return role;
  fields.fail("there is no role '" + name + "'");
  return Role::Replica;
}

struct ForkArguments {
  ForkSettings settings;
  explicit ForkArguments(Fields &fields) {
    settings.socket = fields.text("socket");
    settings.role = roleOf(fields);
    settings.outputs.standard[0] = fields.textOr("stdout", "");
    settings.outputs.standard[1] = fields.textOr("stderr", "");
    settings.outputs.others = fields.textOr("output", "");
    std::vector<int64_t> muted = fields.integers("muted");
    for (int64_t fd : fields.integers("shared"))
      settings.shared.push_back(fd);
    if (!muted.empty() && muted.size() != 3)
      fields.fail("the field 'muted' is not a list of three integers");
    else if (!muted.empty())
      settings.muted = ShownOutput{{{uint64_t(muted[0]), uint64_t(muted[1])}},
                                   uint64_t(muted[2])};
  }
};

/// fork: forks the tool; the fork connects on its own.
static Answer<Object> forkTool(Engine &engine, ForkArguments &arguments) {
  if (std::optional<std::string> why = engine.turns.whyNoFork())
    return RequestError(NoAnswer, "the tool cannot be forked: " + *why);
  pid_t pid = engine.fork(arguments.settings);
  if (pid == 0) {
    // A stop at which a checkpoint is restored is shown anew.
    if (arguments.settings.role == Role::Checkpoint && engine.stops.selected)
      engine.stops.select(engine.stops.frameAt(0));
    return Unanswered();
  }
  if (pid < 0)
    return RequestError(NoAnswer, "the tool cannot be forked");
  return Object{{"pid", int64_t(pid)}};
}
ADBG_REQUEST("fork", forkTool)

struct ExitArguments {
  int64_t status;
  explicit ExitArguments(Fields &fields)
      : status(fields.integer("status", -NSIG)) {}
};

/// exit: ends the process as the fork ended that took its place.
static Answer<NoResult> exitAs(Engine &, ExitArguments &arguments) {
  if (arguments.status < 0)
    dieOf(int(-arguments.status));
  exitAtOnce(int(arguments.status));
}
ADBG_REQUEST("exit", exitAs)

/// settle: truncates the tool's files to the output of this timeline.
static Answer<Object> settleFiles(Engine &engine) {
  SettledFiles settled = engine.forks.files.settle();
  engine.trace.becomeRun(engine.position.ordinal);
  noteDebugged(/*isReplay=*/false);
  return Object{{"remade", Array(settled.remade)},
                {"lost", Array(settled.lost)}};
}
ADBG_REQUEST("settle", settleFiles)

struct FollowArguments {
  std::vector<std::string> files;
  explicit FollowArguments(Fields &fields) : files(fields.texts("files")) {}
};

/// follow: opens files that the tool has made again.
static Answer<NoResult> followFiles(Engine &engine,
                                    FollowArguments &arguments) {
  engine.forks.files.follow(arguments.files);
  return NoResult();
}
ADBG_REQUEST("follow", followFiles)

//===----------------------------------------------------------------------===//
// Recordings of a fork
//===----------------------------------------------------------------------===//

struct OpenRecordingArguments {
  std::string path;
  explicit OpenRecordingArguments(Fields &fields) : path(fields.text("path")) {}
};

/// recording/open: records a fork that is at the beginning of the run.
static Answer<NoResult> openRecording(Engine &engine,
                                      OpenRecordingArguments &arguments) {
  if (engine.forks.role == Role::Tool || engine.position.ordinal)
    return RequestError(NoAnswer,
                        "only a fork at the beginning of the run is recorded");
  RecordSettings settings;
  settings.path = arguments.path;
  settings.lineage = "on";
  if (!engine.beginRecording(settings))
    return notWritten(arguments.path, {errno, std::generic_category()});
  return NoResult();
}
ADBG_REQUEST("recording/open", openRecording)

/// recording/stage: adds the IR as it is now.
static Answer<NoResult> recordStage(Engine &engine) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  if (!engine.recordStage())
    return RequestError(NoAnswer, "there is no IR outside of actions");
  return NoResult();
}
ADBG_REQUEST("recording/stage", recordStage)

/// recording/close
static Answer<NoResult> closeRecording(Engine &) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  Recorder::finish(0);
  return NoResult();
}
ADBG_REQUEST("recording/close", closeRecording)

} // namespace adbg
