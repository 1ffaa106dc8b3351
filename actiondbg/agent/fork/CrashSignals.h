//===- CrashSignals.h - The signals of crashes ------------------*- C++ -*-===//

#ifndef ACTIONDBG_CRASHSIGNALS_H
#define ACTIONDBG_CRASHSIGNALS_H

namespace adbg {

/// Reports the signal of each crash before the tool's own handler runs.
void handleCrashSignals();

} // namespace adbg

#endif // ACTIONDBG_CRASHSIGNALS_H
