//===- Recording.cpp - Requests that record a replay ----------------------===//

#include "requests/Recording.h"
#include "engine/Engine.h"

namespace adbg {

Answer<NoResult> OpenRecording::run(OpenRecordingArguments &arguments) {
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

Answer<NoResult> RecordStage::run(NoArguments &) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  if (!engine.recordStage())
    return RequestError(NoAnswer, "there is no IR outside of actions");
  return NoResult();
}

Answer<NoResult> CloseRecording::run(NoArguments &) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  Recorder::finish(0);
  return NoResult();
}

} // namespace adbg
