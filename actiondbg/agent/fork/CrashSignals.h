//===- CrashSignals.h - The signals of crashes ------------------*- C++ -*-===//

#ifndef ACTIONDBG_CRASHSIGNALS_H
#define ACTIONDBG_CRASHSIGNALS_H

namespace adbg {

/// Reports the signal of each crash before the tool's own handler runs.
void handleCrashSignals();

/// Returns the name of the signal of a crash, such as SIGABRT.
const char *signalName(int number);

} // namespace adbg

#endif // ACTIONDBG_CRASHSIGNALS_H
