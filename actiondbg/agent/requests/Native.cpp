//===- Native.cpp - Requests about native debuggers -----------------------===//

#include "engine/Engine.h"
#include "observe/NativeFunctions.h"
#include "requests/Request.h"
#include "support/Symbols.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace adbg {

/// Sends the standard output and errors of this process to a file.
static bool sendOutput(const std::string &path) {
  int file = open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return false;
  bool isDone = dup2(file, 1) >= 0 && dup2(file, 2) >= 0;
  close(file);
  return isDone;
}

static Object describeFunction(const void *function) {
  std::string symbol = symbolAt(function);
  std::string name = readableName(symbol);
  return Object{{"address", int64_t(reinterpret_cast<intptr_t>(function))},
                {"name", symbol.empty() ? Json(nullptr)
                                        : Json(name.empty() ? symbol : name)},
                {"place", Place::of(function).offsetOf(function)}};
}

struct PrepareNativeArguments {
  /// The file or terminal for the output of this process.
  std::string output;
  explicit PrepareNativeArguments(Fields &fields)
      : output(fields.text("output")) {}
};

/// native/prepare: readies a replica for a native debugger.
static Answer<Object> prepareNative(Engine &engine,
                                    PrepareNativeArguments &arguments) {
  if (engine.forks.role != Role::Replica)
    return RequestError(NoAnswer, "only a replica can be debugged");
  if (!sendOutput(arguments.output))
    return RequestError(FileNotWritten,
                        "the file '" + arguments.output +
                            "' cannot be written: " + strerror(errno));
  // Otherwise only an ancestor may attach, where Yama restricts it.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  Array functions;
  if (engine.stops.isBeforeInnermost())
    for (const void *function : functionsOf(*engine.innermost))
      functions.push_back(describeFunction(function));
  return Object{{"functions", std::move(functions)}};
}

Requests nativeRequests() {
  static constexpr Request all[] = {
      {"native/prepare", by<prepareNative>},
  };
  return all;
}

} // namespace adbg
