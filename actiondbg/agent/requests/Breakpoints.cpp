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
  engine.breakpoints.set(std::move(arguments.breakpoints));
  return NoResult();
}

Answer<Object> GetHits::run(NoArguments &) {
  return Object{{"hits", describeHits(engine.breakpoints.all())}};
}

Answer<NoResult> OpenLog::run(OpenLogArguments &arguments) {
  if (std::error_code error =
          engine.hitLog.open(arguments.path, arguments.neighbourhoods))
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + error.message());
  return NoResult();
}

Answer<NoResult> CloseLog::run(NoArguments &) {
  if (!engine.hitLog.isOpen())
    return RequestError(NoAnswer, "no log is open");
  if (!engine.hitLog.close())
    return RequestError(FileNotWritten, "writing the log failed");
  return NoResult();
}

} // namespace adbg
