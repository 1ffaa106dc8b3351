//===- EndReport.h - Reporting the end of the tool --------------*- C++ -*-===//

#ifndef ACTIONDBG_ENDREPORT_H
#define ACTIONDBG_ENDREPORT_H

namespace adbg {

class Engine;

/// Reports how the tool ends. Also set and called in signal handlers.
class EndReport {
public:
  explicit EndReport(Engine &engine) : engine(engine) {}

  volatile int crashSignal = 0, exitStatus = 0;

  void sendExit();
  void sendCrash();

private:
  void finishFiles();

  Engine &engine;
};

} // namespace adbg

#endif // ACTIONDBG_ENDREPORT_H
