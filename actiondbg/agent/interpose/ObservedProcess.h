//===- ObservedProcess.h - Which processes are observed ---------*- C++ -*-===//
//
// Decides whether this process is debugged, recorded, or left alone: by the
// settings that a front end has left in the environment, by the glob of
// --follow, by what other processes of the program do, and by the limits of a
// suite.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Decides, at the first context, whether this process is observed, and begins
/// to debug or to record it.
void observeProcess(MLIRContext *context);

/// Notes, once, that this process makes a context which is not observed, though
/// the user wants it.
void noteUnobserved();

} // namespace adbg
