//===- SeenPrograms.h - What a program starts -------------------*- C++ -*-===//
//
// The processes of a program note in the file $ACTIONDBG_SEEN, if it is named,
// what the front end does not see: the programs that they run, those that they
// become without the agent, and contexts that nobody observes.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_SEENPROGRAMS_H
#define ACTIONDBG_SEENPROGRAMS_H

namespace adbg {

/// Notes that this process is about to become another program, if its new
/// environment does not preload the agent. Async-signal-safe.
void noteExec(const char *path, char *const *environment);

/// Notes, once, that this process makes a context which is not observed, though
/// the user wants it.
void noteUnobserved();

/// Whether this process was started by one that is debugged: it only notes that
/// it makes a context.
bool isOnlySeen();

} // namespace adbg

#endif // ACTIONDBG_SEENPROGRAMS_H
