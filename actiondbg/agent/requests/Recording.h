//===- Recording.h - Requests that record a replay --------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_RECORDING_H
#define ACTIONDBG_REQUESTS_RECORDING_H

#include "requests/Request.h"

namespace adbg {

struct OpenRecordingArguments {
  std::string path;
  explicit OpenRecordingArguments(Fields &fields) : path(fields.text("path")) {}
};

/// recording/open: records a fork that is at the beginning of the run.
class OpenRecording : public Request<OpenRecordingArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(OpenRecordingArguments &arguments) override;
};

/// recording/stage: adds the IR as it is now.
class RecordStage : public Request<NoArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(NoArguments &) override;
};

/// recording/close
class CloseRecording : public Request<NoArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(NoArguments &) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_RECORDING_H
