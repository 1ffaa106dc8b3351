//===- Unwinding.h - Functions that an exception leaves ---------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// Calls a function of the tool. If an exception leaves it, as of a pass that
/// is written in Python, or the thread ends in it, `leave` is called on the
/// way: the tool's callers go on without a return here.
void callWatched(function_ref<void()> run, function_ref<void()> leave);

/// Forgets the calls that this thread leaves by dropping its stack down to an
/// address.
void forgetCalls(uintptr_t stack);

} // namespace adbg
