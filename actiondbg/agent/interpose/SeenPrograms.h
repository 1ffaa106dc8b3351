//===- SeenPrograms.h - What a program starts -------------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Whether there is a file of what the program's processes do.
bool takesNotes();

/// Adds a line to the file of what the program's processes do, if there is one.
/// `kind` ends with a separator. Async-signal-safe.
void noteLine(const char *kind, const char *text);

/// Calls `start`, which starts a program, with the environment for that:
/// without this agent where the program would end at once with it, as the
/// library of a sanitizer, which it names, has to be loaded first; with the
/// agent's variables where only LD_PRELOAD is left of them. Notes each program
/// that leaves the agent behind. Async-signal-safe in a child of vfork.
int startNoted(const char *path, char *const *environment,
               function_ref<int(char *const *)> start);

/// The same for `exec`, which makes this process another program: notes that a
/// debugged process becomes one.
int execNoted(const char *path, char *const *environment,
              function_ref<int(char *const *)> exec);

/// Notes a library that was loaded, in which MLIR's functions are not found.
void noteLoaded(const char *path);

/// Notes that this process is debugged, or repeats what a debugged one did.
void noteDebugged(bool isReplay);

/// Notes that this process is a fork that the program made of a debugged one.
void noteForked();

/// Whether this process runs unobserved: a replay of a debugged one has started
/// it, which waits for its end without the front end, or has become it.
bool runsUnobserved();

} // namespace adbg
