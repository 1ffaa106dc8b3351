//===- RecorderStart.cpp - The start of a recording -----------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "interpose/Versions.h"
#include "support/ReadFile.h"

namespace adbg {

RecordedIR Recorder::wantedIR = RecordedIR::None;
Ordinals Recorder::irOf;
bool Recorder::wantsOutput = false;
bool Recorder::wantsLineage = false;
bool Recorder::wantsOneThread = false;
bool Recorder::wantsReversed = false;

static Array commandLine() {
  Array words;
  std::optional<std::string> text = readFile("/proc/self/cmdline");
  if (!text)
    return words;
  std::vector<StringRef> parts;
  StringRef(*text).rtrim('\0').split(parts, '\0');
  for (StringRef part : parts)
    words.push_back(part);
  return words;
}

static std::string headerText(bool isThreaded, const RecordSettings &settings) {
  Array events;
  for (unsigned i = 0; i < Counters::size(); ++i)
    events.push_back(Counters::name(i));
  char directory[4096] = "";
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  std::string text;
  raw_string_ostream(text) << Json(
      Object{{"agent", "preload"},
             {"llvm", settings.llvm},
             {"pid", int64_t(getpid())},
             {"argv", commandLine()},
             {"cwd", getcwd(directory, sizeof(directory)) ? directory : ""},
             {"started", time.tv_sec * 1000000000ll + time.tv_nsec},
             {"ir", settings.ir.empty() ? "none" : settings.ir},
             {"lineage", !settings.lineage.empty()},
             {"checks", !settings.checks.empty()},
             {"events", std::move(events)},
             {"threads", isThreaded}});
  return text;
}

bool Recorder::start(const RecordSettings &settings, bool isThreaded) {
  Counters::configure(settings.events);
  std::string header = headerText(isThreaded, settings);
  if (!RecordFile::begin(settings.path.c_str(), header)) {
    if (settings.names)
      llvm::errs() << "actiondbg: " << settings.path << " cannot be written ("
                   << strerror(errno) << "): name another file\n";
    return false;
  }
  wantedIR = settings.ir == "function"  ? RecordedIR::Function
             : settings.ir == "changed" ? RecordedIR::Changed
             : settings.ir == "pass"    ? RecordedIR::Pass
                                        : RecordedIR::None;
  irOf = Ordinals::of(settings.irOf);
  wantsOutput = !settings.ir.empty() && settings.ir != "none";
  wantsLineage = !settings.lineage.empty();
  PatternChecks::areOn = !settings.checks.empty();
  wantsOneThread = !settings.oneThread.empty();
  wantsReversed = !settings.reversed.empty();
  Stages::begin();
  handleEndSignals();
  handleWakeSignal();
  return true;
}

} // namespace adbg
