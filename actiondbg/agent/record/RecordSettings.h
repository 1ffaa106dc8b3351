//===- RecordSettings.h - What is recorded, and how -------------*- C++ -*-===//

#pragma once

#include "record/Counters.h"
#include "support/OwnFiles.h"

#include "llvm/Support/JSON.h"

namespace adbg {

/// The settings of a recording.
struct RecordSettings {
  /// Paths of the files; empty for none.
  std::string path, upstreamLog;
  /// The detail of IR, and the ordinals of the actions of which it is recorded,
  /// "first-last"; empty for all.
  std::string ir, irOf, events;
  /// Not empty if the lineage of operations is recorded.
  std::string lineage;
  /// Not empty if patterns are checked (see PatternChecks), if the tool uses
  /// one thread, and if patterns of the same benefit are tried in the opposite
  /// order.
  std::string checks, oneThread, reversed;
  /// Standing skip rules as JSON, as in skips/set; empty for none.
  std::string skips;
  /// The version of the tool's LLVM; empty if it is not known.
  std::string llvm;
  /// Whether a file that cannot be written is named on stderr.
  bool names = true;

  /// Reads the settings that a front end gives. `variable` returns the value of
  /// an environment variable.
  static RecordSettings read(function_ref<std::string(const char *)> variable) {
    return {.path = variable("ACTIONDBG_RECORD"),
            .upstreamLog = variable("ACTIONDBG_UPSTREAM_LOG"),
            .ir = variable("ACTIONDBG_RECORD_IR"),
            .irOf = variable("ACTIONDBG_RECORD_IR_OF"),
            .events = variable("ACTIONDBG_RECORD_EVENTS"),
            .lineage = variable("ACTIONDBG_RECORD_LINEAGE"),
            .checks = variable("ACTIONDBG_RECORD_CHECKS"),
            .oneThread = variable("ACTIONDBG_RECORD_ONE_THREAD"),
            .reversed = variable("ACTIONDBG_RECORD_REVERSED"),
            .skips = variable("ACTIONDBG_RECORD_SKIPS"),
            .llvm = variable("ACTIONDBG_RECORD_LLVM")};
  }

  /// The header of a recording of this process, as JSON: `Header` of
  /// recording/format/file.py.
  std::string header(bool isThreaded) const {
    Array events;
    for (unsigned i = 0; i < Counters::size(); ++i)
      events.push_back(Counters::name(i));
    std::string words = readFile("/proc/self/cmdline").value_or("");
    std::vector<StringRef> argv;
    if (!words.empty())
      StringRef(words).rtrim('\0').split(argv, '\0');
    char directory[4096] = "";
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    std::string text;
    raw_string_ostream(text) << Json(
        Object{{"agent", "preload"},
               {"llvm", llvm},
               {"pid", int64_t(getpid())},
               {"argv", Array(argv)},
               {"cwd", getcwd(directory, sizeof(directory)) ? directory : ""},
               {"started", time.tv_sec * 1000000000ll + time.tv_nsec},
               {"ir", ir.empty() ? "none" : ir},
               {"lineage", !lineage.empty()},
               {"checks", !checks.empty()},
               {"events", std::move(events)},
               {"threads", isThreaded}});
    return text;
  }
};

} // namespace adbg
