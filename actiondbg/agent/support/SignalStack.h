//===- SignalStack.h - A stack for signal handlers --------------*- C++ -*-===//

#pragma once

namespace adbg {

/// Gives this thread an alternate signal stack if it has none: without one, the
/// kernel kills a process whose recursion overflows the stack before a handler
/// of crashes can report it. The stack lives as long as the thread.
void ensureSignalStack();

} // namespace adbg
