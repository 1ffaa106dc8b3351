//===- RecorderLife.cpp - The begin and the end of a recording ------------===//
//
// It ends at the exit of the tool, at a crash, and at a signal that ends it.
//
//===----------------------------------------------------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "interpose/Versions.h"
#include "support/ReadFile.h"

namespace adbg {

void Recorder::writeEnd(const char *text) {
  ChunkHeader header;
  header.thread = ofThread ? ofThread->thread : 0;
  RecordFile::write(header, Part{SectionKind::End, 0, 1, text, strlen(text)});
}

void Recorder::writeExit(int status) {
  flushEverywhere();
  Stages::finish();
  char text[64];
  snprintf(text, sizeof(text), "{\"ended\":\"exit\",\"status\":%d}", status);
  writeEnd(text);
}

void Recorder::finish(int status) {
  if (!isOn())
    return;
  writeExit(status);
  RecordFile::end();
}

off_t Recorder::finishForNow() {
  if (!isOn())
    return -1;
  flushEverywhere();
  off_t size = RecordFile::size();
  writeExit(0);
  return size;
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Writes the inside of a JSON string, as far as there is room. Allocates no
/// memory.
static void escape(StringRef text, char *to, size_t room) {
  size_t size = 0;
  for (char one : text) {
    if (size + 3 > room)
      break;
    if (one == '"' || one == '\\')
      to[size++] = '\\';
    // Control characters other than line ends are left out.
    if (one == '\n') {
      to[size++] = '\\';
      to[size++] = 'n';
    } else if (static_cast<unsigned char>(one) >= ' ') {
      to[size++] = one;
    }
  }
  to[size] = 0;
}

void Recorder::crash() {
  if (!isOn())
    return;
  // The tool may recover from the crash and continue.
  if (tool::crashRecovery && tool::crashRecovery())
    return flushEverywhere();
  static std::atomic<bool> isEnding{false};
  if (isEnding.exchange(true)) {
    // The end of this thread would kill the other one before it has written.
    if (ofThread)
      ofThread->flushNow();
    for (int tries = 0; isOn() && tries < 1000; ++tries)
      sleepFor(millisecond);
    return;
  }
  flushEverywhere();
  Stages::finish();
  Engine &engine = Engine::known();
  char row[32] = "", message[4096], text[4200];
  if (engine.innermost)
    snprintf(row, sizeof(row), ",\"row\":%llu",
             static_cast<unsigned long long>(engine.innermost->ordinal - 1));
  escape(engine.end.cause(), message, sizeof(message));
  snprintf(text, sizeof(text),
           "{\"ended\":\"crash\",\"signal\":%d%s,\"message\":\"%s\"}",
           int(engine.end.crashSignal), row, message);
  writeEnd(text);
  RecordFile::end();
}

// The tool's handlers of termination signals.
static struct sigaction endActions[NSIG];

volatile int Recorder::endSignal = 0;

void Recorder::raiseEndSignal() { raise(std::exchange(endSignal, 0)); }

/// Flushes all threads, then calls the tool's own handler, which may end it.
void Recorder::onEnd(int number, siginfo_t *info, void *context) {
  if (isOn() && ofThread && ofThread->isBusy) {
    endSignal = number; // comes again when the buffers can be written
    return;
  }
  if (isOn())
    flushEverywhere();
  const struct sigaction &tool = endActions[number];
  if (tool.sa_flags & SA_SIGINFO)
    return tool.sa_sigaction(number, info, context);
  if (tool.sa_handler != SIG_DFL)
    return tool.sa_handler(number);
  if (isOn()) {
    char text[64];
    snprintf(text, sizeof(text), "{\"ended\":\"exit\",\"status\":%d}", -number);
    writeEnd(text);
    RecordFile::end();
  }
  ::signal(number, SIG_DFL);
  raise(number);
}

void Recorder::handleEndSignals() {
  static bool isHandled = false;
  if (std::exchange(isHandled, true))
    return;
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action = {};
    sigaction(number, nullptr, &endActions[number]);
    if (endActions[number].sa_handler == SIG_IGN)
      continue;
    action.sa_sigaction = onEnd;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// The start of a recording
//===----------------------------------------------------------------------===//

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

RecordSettings
RecordSettings::read(function_ref<std::string(const char *)> variable) {
  RecordSettings given;
  given.path = variable("ACTIONDBG_RECORD");
  given.upstreamLog = variable("ACTIONDBG_UPSTREAM_LOG");
  given.ir = variable("ACTIONDBG_RECORD_IR");
  given.irOf = variable("ACTIONDBG_RECORD_IR_OF");
  given.events = variable("ACTIONDBG_RECORD_EVENTS");
  given.lineage = variable("ACTIONDBG_RECORD_LINEAGE");
  given.checks = variable("ACTIONDBG_RECORD_CHECKS");
  given.oneThread = variable("ACTIONDBG_RECORD_ONE_THREAD");
  given.reversed = variable("ACTIONDBG_RECORD_REVERSED");
  given.skips = variable("ACTIONDBG_RECORD_SKIPS");
  given.llvm = variable("ACTIONDBG_RECORD_LLVM");
  return given;
}

} // namespace adbg
