//===- Signals.h - The tool's handlers of signals ---------------*- C++ -*-===//

#pragma once

namespace llvm::sys {

/// Does nothing: LLVM's handlers of a tool that has not installed them would
/// take signals away from its program, as Ctrl-C from Python's. The agent's own
/// handlers see crashes.
inline void AddSignalHandler(void (*)(void *), void *) {}

/// Removes the files that the tool is writing.
void RunInterruptHandlers() __asm__("adbg_RunInterruptHandlers");

} // namespace llvm::sys
