//===- RecorderEnd.cpp - The end of a recording ---------------------------===//
//
// At the exit of the tool, at a crash, and at a signal that ends it.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"

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

} // namespace adbg
