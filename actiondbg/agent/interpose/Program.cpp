//===- Program.cpp - Functions that a program calls -----------------------===//
//
// A Python program may load the agent itself (actiondbg.attach) and call these
// functions, instead of being started with the agent and its settings in the
// environment.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "interpose/SeenPrograms.h"

using namespace adbg;

extern "C" {

/// Prepares for recordings of parts of this program. Returns whether it can be
/// recorded: not if it is debugged or recorded as a whole.
ADBG_EXPORT bool adbg_prepare() {
  if (!Engine::isLibrary && (Engine::first().isAttached() ||
                             (isStartedByFrontEnd() && !runsUnobserved())))
    return false;
  Engine::isLibrary = true;
  return true;
}

/// Connects to the front end that listens at a socket, when the program makes
/// its next context. The program goes on when the front end ends. It is not
/// forked: a fork could not take the place of a process that others wait for.
ADBG_EXPORT void adbg_connect(const char *socket) {
  Connection::onGone = [] { Engine::first().detach(); };
  connectLater(socket);
}

/// Records what this process does from now on. The texts are those of
/// RecordSettings. Returns false if the file cannot be written.
ADBG_EXPORT bool adbg_begin(const char *path, const char *ir,
                            const char *skips) {
  RecordSettings settings;
  settings.path = path;
  settings.ir = ir;
  settings.skips = skips;
  return Engine::beginPart(settings);
}

/// Writes what is recorded so far. Returns false if something could not be
/// written, so that the recording has ended.
ADBG_EXPORT bool adbg_flush() {
  Recorder::flushAll();
  return RecordFile::isOpen();
}

/// Completes the recording.
ADBG_EXPORT void adbg_end() { Engine::endPart(); }

} // extern "C"
