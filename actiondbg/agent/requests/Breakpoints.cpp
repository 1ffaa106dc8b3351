//===- Breakpoints.cpp - Requests about breakpoints and their log ---------===//

#include "requests/Breakpoints.h"
#include "engine/Describe.h"
#include "engine/Engine.h"

using llvm::json::Object;

namespace adbg {

SetBreakpointsArguments::SetBreakpointsArguments(Fields &fields) {
  fields.eachObject("breakpoints", [&](Fields &inner) {
    if (std::optional<Breakpoint> one = Breakpoint::parse(inner))
      breakpoints.push_back(std::move(*one));
  });
}

Answer<NoResult> SetBreakpoints::run(SetBreakpointsArguments &arguments) {
  for (Breakpoint &one : arguments.breakpoints)
    for (Breakpoint &old : engine.breakpoints)
      if (old.id == one.id)
        one.inherit(old);
  engine.breakpoints = std::move(arguments.breakpoints);
  engine.breakpointsChanged();
  return NoResult();
}

Answer<Object> GetHits::run(NoArguments &) {
  return Object{{"hits", describeHits(engine.breakpoints)}};
}

Answer<NoResult> OpenLog::run(OpenLogArguments &arguments) {
  std::error_code error;
  auto log = std::make_unique<llvm::raw_fd_ostream>(arguments.path, error);
  if (error)
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + error.message());
  engine.log = std::move(log);
  return NoResult();
}

Answer<NoResult> CloseLog::run(NoArguments &) {
  if (!engine.log)
    return RequestError(NoAnswer, "there is no log");
  engine.log->flush();
  bool isWritten = !engine.log->has_error();
  engine.log->clear_error();
  engine.log.reset();
  if (!isWritten)
    return RequestError(FileNotWritten, "the log could not be written");
  return NoResult();
}

} // namespace adbg
