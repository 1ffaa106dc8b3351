//===- SeenPrograms.h - What a program starts -------------------*- C++ -*-===//

#ifndef ACTIONDBG_SEENPROGRAMS_H
#define ACTIONDBG_SEENPROGRAMS_H

namespace adbg {

/// Notes in the file $ACTIONDBG_SEEN, if it is named, that this process is
/// about to become another program: without the agent, if its new environment
/// does not preload it. Async-signal-safe.
void noteExec(const char *path, char *const *environment);

} // namespace adbg

#endif // ACTIONDBG_SEENPROGRAMS_H
