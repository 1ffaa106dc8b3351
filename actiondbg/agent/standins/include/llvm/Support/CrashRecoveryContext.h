//===- CrashRecoveryContext.h - Crashes that a tool survives ----*- C++ -*-===//

#pragma once

namespace llvm {

// The function has a name of its own for the linker: it calls the tool's.
class CrashRecoveryContext {
public:
  /// The tool's context around this thread; null if there is none.
  static CrashRecoveryContext *
  GetCurrent() __asm__("adbg_CrashRecoveryContext_GetCurrent");
};

} // namespace llvm
