//===- Breakpoints.cpp - Requests about breakpoints and their log ---------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "match/Breakpoint.h"
#include "requests/Request.h"

namespace adbg {

struct SetBreakpointsArguments {
  std::vector<Breakpoint> breakpoints;
  explicit SetBreakpointsArguments(Fields &fields) {
    fields.eachObject("breakpoints", [&](Fields &inner) {
      if (std::optional<Breakpoint> one = Breakpoint::parse(inner))
        breakpoints.push_back(std::move(*one));
    });
  }
};

/// breakpoints/set: replaces all breakpoints, watches and catches. One that
/// existed before, by its id, keeps its counts.
static Answer<NoResult> setBreakpoints(Engine &engine,
                                       SetBreakpointsArguments &arguments) {
  engine.breakpoints.set(std::move(arguments.breakpoints));
  return NoResult();
}

/// breakpoints/hits: how often each breakpoint was hit.
static Answer<Object> getHits(Engine &engine) {
  return Object{{"hits", describeHits(engine.breakpoints.all())}};
}

struct OpenLogArguments {
  std::string path;
  bool neighbourhoods;
  explicit OpenLogArguments(Fields &fields)
      : path(fields.text("path")),
        neighbourhoods(fields.boolean("neighbourhoods", false)) {}
};

/// log/open: opens the file for breakpoints that log instead of stopping.
static Answer<NoResult> openLog(Engine &engine, OpenLogArguments &arguments) {
  if (std::error_code error =
          engine.hitLog.open(arguments.path, arguments.neighbourhoods))
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + error.message());
  return NoResult();
}

/// log/close: closes that file, and reports whether all was written.
static Answer<NoResult> closeLog(Engine &engine) {
  if (!engine.hitLog.isOpen())
    return RequestError(NoAnswer, "no log is open");
  if (!engine.hitLog.close())
    return RequestError(FileNotWritten, "writing the log failed");
  return NoResult();
}

Requests breakpointRequests() {
  static constexpr Request all[] = {
      {"breakpoints/set", by<setBreakpoints>},
      {"breakpoints/hits", by<getHits>},
      {"log/open", by<openLog>},
      {"log/close", by<closeLog>},
  };
  return all;
}

} // namespace adbg
