//===- Process.cpp - Files, threads and the tool's own LLVM ---------------===//

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Functions of the tool's LLVM, null where it has none
//===----------------------------------------------------------------------===//

__attribute__((weak)) llvm::raw_ostream &
toolOutput() __asm__("_ZN4llvm4outsEv");
__attribute__((weak)) void
toolInterruptHandlers() __asm__("_ZN4llvm3sys20RunInterruptHandlersEv");
__attribute__((weak)) llvm::CrashRecoveryContext *
toolCrashRecovery() __asm__("_ZN4llvm20CrashRecoveryContext10GetCurrentEv");

namespace llvm {

raw_ostream &outs() { return toolOutput ? toolOutput() : nulls(); }

void sys::RunInterruptHandlers() {
  if (toolInterruptHandlers)
    toolInterruptHandlers();
}

CrashRecoveryContext *CrashRecoveryContext::GetCurrent() {
  return toolCrashRecovery ? toolCrashRecovery() : nullptr;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void report_bad_alloc_error(const char *reason, bool) {
  for (StringRef part : {StringRef("LLVM ERROR: out of memory\n"),
                         StringRef(reason), StringRef("\n")})
    if (::write(2, part.data(), part.size()) < 0)
      break;
  std::abort();
}

} // namespace llvm
