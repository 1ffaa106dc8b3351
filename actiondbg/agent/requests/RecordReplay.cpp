//===- RecordReplay.cpp - Requests that record a replay -------------------===//

#include "engine/Engine.h"
#include "requests/Request.h"

namespace adbg {

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
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + strerror(errno));
  return NoResult();
}

/// recording/stage: adds the IR as it is now.
static Answer<NoResult> recordStage(Engine &engine) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  if (!engine.recordStage())
    return RequestError(NoAnswer, "there is no IR outside of actions");
  return NoResult();
}

/// recording/close
static Answer<NoResult> closeRecording(Engine &) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  Recorder::finish(0);
  return NoResult();
}

Requests recordingRequests() {
  static constexpr Request all[] = {
      {"recording/open", by<openRecording>},
      {"recording/stage", by<recordStage>},
      {"recording/close", by<closeRecording>},
  };
  return all;
}

} // namespace adbg
