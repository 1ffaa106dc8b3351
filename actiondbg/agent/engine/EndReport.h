//===- EndReport.h - Reporting the end of the tool --------------*- C++ -*-===//

#ifndef ACTIONDBG_ENDREPORT_H
#define ACTIONDBG_ENDREPORT_H

#include <string>

namespace adbg {

class Engine;

/// Reports how the tool ends. Also set and called in signal handlers.
class EndReport {
public:
  explicit EndReport(Engine &engine) : engine(engine) {}

  volatile int crashSignal = 0, exitStatus = 0;
  /// Whether a crash stops the tool where nothing catches it.
  bool stopsOnCrash = false;

  void sendExit();
  /// Notes the crash, and stops if that is wanted. Called before the tool's own
  /// handler, which may print a lot.
  void crash(int signal);
  void sendCrash();

private:
  void finishFiles();

  Engine &engine;
  /// What the tool wrote about its crash.
  std::string cause;
  /// Set while a crash is handled: another one then is the agent's.
  volatile bool isCrashing = false;
};

} // namespace adbg

#endif // ACTIONDBG_ENDREPORT_H
