//===- Breakpoints.cpp - Requests about breakpoints and logs --------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/Request.h"

namespace adbg {

struct SetBreakpointsArguments {
  std::vector<Breakpoint> breakpoints;
  explicit SetBreakpointsArguments(Fields &fields)
      : breakpoints(fields.objects<Breakpoint>("breakpoints")) {}
};

/// breakpoints/set: replaces all breakpoints, watches and catches. One that
/// existed before, by its id, keeps its counts.
static Answer<NoResult> setBreakpoints(Engine &engine,
                                       SetBreakpointsArguments &arguments) {
  engine.breakpoints.set(std::move(arguments.breakpoints));
  return NoResult();
}
ADBG_REQUEST("breakpoints/set", setBreakpoints)

/// breakpoints/hits: how often each breakpoint was hit.
static Answer<Object> getHits(Engine &engine) {
  return Object{{"hits", describeHits(engine.breakpoints.all())}};
}
ADBG_REQUEST("breakpoints/hits", getHits)

struct OpenLogArguments {
  std::string path;
  bool neighbourhoods;
  explicit OpenLogArguments(Fields &fields)
      : path(fields.text("path")),
        neighbourhoods(fields.boolean("neighbourhoods", false)) {}
};

/// log/open: opens the file for breakpoints that log instead of stopping.
static Answer<NoResult> openLog(Engine &engine, OpenLogArguments &arguments) {
  engine.stops.logsNeighbourhoods = arguments.neighbourhoods;
  if (std::error_code error = engine.stops.hitLog.open(arguments.path))
    return notWritten(arguments.path, error);
  return NoResult();
}
ADBG_REQUEST("log/open", openLog)

/// log/close: closes that file, and reports whether all was written.
static Answer<NoResult> closeLog(Engine &engine) {
  if (!engine.stops.hitLog.isOpen())
    return RequestError(NoAnswer, "no log is open");
  if (!engine.stops.hitLog.close())
    return RequestError(FileNotWritten, "writing the log failed");
  return NoResult();
}
ADBG_REQUEST("log/close", closeLog)

//===----------------------------------------------------------------------===//
// The log of dialect conversions
//===----------------------------------------------------------------------===//

struct OpenLegalizationsArguments {
  std::string path;
  WantedOperations wanted;
  bool reasons;
  explicit OpenLegalizationsArguments(Fields &fields)
      : path(fields.text("path")), reasons(fields.boolean("reasons", false)) {
    wanted.ids = fields.integers("ids");
    wanted.name = Glob::parse(fields, "glob");
    wanted.most = fields.integerOr("most", 1, 1000);
  }
};

/// legalizations/open: writes what failed conversions tried into a file.
static Answer<NoResult>
openLegalizations(Engine &engine, OpenLegalizationsArguments &arguments) {
  if (std::error_code error = engine.legalizations.open(
          arguments.path, std::move(arguments.wanted), arguments.reasons))
    return notWritten(arguments.path, error);
  return NoResult();
}
ADBG_REQUEST("legalizations/open", openLegalizations)

/// legalizations/close
static Answer<NoResult> closeLegalizations(Engine &engine) {
  if (!engine.legalizations.file.isOpen())
    return RequestError(NoAnswer, "no legalizations are written");
  if (!engine.legalizations.close())
    return RequestError(FileNotWritten, "writing the legalizations failed");
  return NoResult();
}
ADBG_REQUEST("legalizations/close", closeLegalizations)

} // namespace adbg
