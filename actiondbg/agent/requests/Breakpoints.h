//===- Breakpoints.h - Requests about breakpoints and their log -*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_BREAKPOINTS_H
#define ACTIONDBG_REQUESTS_BREAKPOINTS_H

#include "match/Breakpoint.h"
#include "requests/Request.h"

namespace adbg {

struct SetBreakpointsArguments {
  std::vector<Breakpoint> breakpoints;
  explicit SetBreakpointsArguments(Fields &fields);
};

/// breakpoints/set: replaces all breakpoints, watches and catches. One that
/// existed before, by its id, keeps its counts.
class SetBreakpoints : public Request<SetBreakpointsArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(SetBreakpointsArguments &arguments) override;
};

/// breakpoints/hits: how often each breakpoint was hit.
class GetHits : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct OpenLogArguments {
  std::string path;
  bool neighbourhoods;
  explicit OpenLogArguments(Fields &fields)
      : path(fields.text("path")),
        neighbourhoods(fields.boolean("neighbourhoods", false)) {}
};

/// log/open: opens the file for breakpoints that log instead of stopping.
class OpenLog : public Request<OpenLogArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(OpenLogArguments &arguments) override;
};

/// log/close: closes that file, and reports whether all was written.
class CloseLog : public Request<NoArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(NoArguments &) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_BREAKPOINTS_H
