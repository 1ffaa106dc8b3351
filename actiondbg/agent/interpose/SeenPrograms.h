//===- SeenPrograms.h - What a program starts -------------------*- C++ -*-===//
//
// The processes of a program note in the file $ACTIONDBG_SEEN, if it is named,
// what the front end does not see: the programs that they run, those that they
// become without the agent, and contexts that nobody observes.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_SEENPROGRAMS_H
#define ACTIONDBG_SEENPROGRAMS_H

#include <cstddef>

namespace adbg {

/// Notes that this process is about to become another program, if it is
/// debugged, or if its new environment does not preload the agent.
/// Async-signal-safe in a child of vfork.
void noteExec(const char *path, char *const *environment);

/// Whether a program would end at once with this agent: the library of a
/// sanitizer, which it names, has to be the first that is loaded.
/// Async-signal-safe.
bool refusesAgent(const char *path);

/// The number of words of an environment, with the null.
size_t sizeOf(char *const *environment);

/// Copies an environment of `size` words, without this agent: `preloaded` has
/// room for what else is preloaded, of the size of an agent's path.
/// Async-signal-safe.
void copyWithoutAgent(char *const *environment, size_t size, char **copy,
                      char (&preloaded)[4096]);

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
