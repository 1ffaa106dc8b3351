//===- SuiteProcess.h - A process of a suite --------------------*- C++ -*-===//
//
// A suite is many processes, each of which records on its own, without a front
// end: into a file of its own in the folder of the suite. The processes and
// what is not recorded are noted in the file of SeenPrograms.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

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
