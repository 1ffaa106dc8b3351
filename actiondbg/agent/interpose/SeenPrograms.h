//===- SeenPrograms.h - What a program starts -------------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Adds a line to the file of what the program's processes do, if there is one.
/// `kind` ends with a separator. Async-signal-safe.
void noteLine(const char *kind, const char *text);

/// Whether this process is one to follow: the glob matches the name of its
/// executable or a word of its command line, without the directory.
bool isFollowed(StringRef glob);

/// Returns the file for the recording of this process: `path`, or if another
/// process of the program records there, `path` with `.p1`, `.p2`... before its
/// extension. Empty if none can be made.
std::string claimRecording(const std::string &path);

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

/// Notes, once, that this process makes a context which is not observed, though
/// the user wants it.
void noteUnobserved();

/// Notes that this process is debugged, or repeats what a debugged one did.
void noteDebugged(bool isReplay);

/// Notes that this process is a fork that the program made of a debugged one.
void noteForked();

/// Whether this process runs unobserved: a replay of a debugged one has started
/// it, which waits for its end without the front end, or has become it.
bool runsUnobserved();

// A suite is many processes, each of which records on its own, without a front
// end: into a file of its own in the folder of the suite. The processes and
// what is not recorded are noted in the file of SeenPrograms.

/// Notes this process, if a suite is recorded.
void noteSuiteProcess();

/// Whether this process is recorded for a suite.
bool isOfSuite();

/// Notes that this process cannot be recorded.
void noteUnrecorded();

/// Returns the file for the recording of this process; empty if the suite has
/// reached its limit of disk space, which is noted.
std::string claimSuiteRecording();

} // namespace adbg
