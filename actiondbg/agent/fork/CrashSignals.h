//===- CrashSignals.h - The signals of crashes ------------------*- C++ -*-===//

#pragma once

namespace adbg {

/// Reports the signal of each crash before the tool's own handler runs.
void handleCrashSignals();

/// Does so again if the tool has put handlers of its own in front since, as
/// llvm::CrashRecoveryContext does. Does nothing where it was not done before.
void keepCrashSignals();

/// Notes a jump of this thread, which may leave the handler of a crash.
void leaveCrash();

/// Returns the name of the signal of a crash, such as SIGABRT.
const char *signalName(int number);

} // namespace adbg
