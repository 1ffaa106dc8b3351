//===- CrashSignals.h - The signals of crashes ------------------*- C++ -*-===//

#ifndef ACTIONDBG_CRASHSIGNALS_H
#define ACTIONDBG_CRASHSIGNALS_H

namespace adbg {

/// From now on each crash is noted with its signal, before the tool's own
/// handler runs.
void listenToCrashes();

} // namespace adbg

#endif // ACTIONDBG_CRASHSIGNALS_H
