//===- Signals.h - The tool's handlers of signals ---------------*- C++ -*-===//

#pragma once

namespace llvm::sys {

/// Removes the files that the tool is writing.
void RunInterruptHandlers() __asm__("adbg_RunInterruptHandlers");

} // namespace llvm::sys
