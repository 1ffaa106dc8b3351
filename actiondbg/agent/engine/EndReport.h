//===- EndReport.h - Reporting the end of the tool --------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

class Engine;

/// Reports how the tool ends. Also set and called in signal handlers.
class EndReport {
public:
  explicit EndReport(Engine &engine);

  volatile int crashSignal = 0, exitStatus = 0;
  /// Whether a crash stops the tool where nothing catches it.
  bool stopsOnCrash = false;

  /// Completes the recording, and tells the front end, once.
  void exit();
  /// Notes the crash, and stops if that is wanted. Called before the tool's own
  /// handler, which may print a lot.
  void crash(int signal);
  /// What the tool wrote about its crash, such as a failed assertion; may be
  /// empty.
  StringRef cause() const { return {causeText, causeSize}; }
  void sendCrash();

private:
  void sendExit();
  void finishFiles();
  void noteCause();

  Engine &engine;
  /// Where the C library keeps the message of a failed assertion for debuggers;
  /// null if it does not.
  struct AbortMessage **abortMessage;
  // Memory cannot be allocated in a crash, which may be one of the allocator.
  char causeText[2048];
  size_t causeSize = 0;
  /// Set while a crash is handled: another one then is the agent's.
  volatile bool isCrashing = false;
};

} // namespace adbg
