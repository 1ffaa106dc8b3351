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

/// Notes that this process is about to become another program, if it is
/// debugged, or if its new environment does not preload the agent.
/// Async-signal-safe in a child of vfork.
void noteExec(const char *path, char *const *environment);

/// Notes, once, that this process makes a context which is not observed, though
/// the user wants it.
void noteUnobserved();

/// Notes that this process is debugged, or repeats what a debugged one did.
void noteDebugged(bool isReplay);

/// Whether this process runs unobserved, as a debugged one has started it or
/// become it: that one may wait for its end. Notes it then.
bool isChildOfDebugged();

} // namespace adbg

#endif // ACTIONDBG_SEENPROGRAMS_H
