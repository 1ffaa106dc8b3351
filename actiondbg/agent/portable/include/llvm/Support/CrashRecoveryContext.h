//===- CrashRecoveryContext.h - Crashes that a tool survives ----*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_CRASHRECOVERYCONTEXT_H
#define ACTIONDBG_LLVM_CRASHRECOVERYCONTEXT_H

namespace llvm {

class CrashRecoveryContext {
public:
  /// The tool's context around this thread; null if there is none.
  static CrashRecoveryContext *GetCurrent();
};

} // namespace llvm

#endif // ACTIONDBG_LLVM_CRASHRECOVERYCONTEXT_H
