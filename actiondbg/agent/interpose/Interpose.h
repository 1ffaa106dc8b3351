//===- Interpose.h - Original functions -------------------------*- C++ -*-===//

#ifndef ACTIONDBG_INTERPOSE_H
#define ACTIONDBG_INTERPOSE_H

#include "interpose/Versions.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <unistd.h>

#define ADBG_EXPORT __attribute__((visibility("default"), used))

namespace adbg {

/// Returns the function that `symbol` resolves to without this agent.
template <typename Function> Function *real(const char *symbol) {
  void *address = dlsym(RTLD_NEXT, symbol);
  if (!address) {
    llvm::errs() << "actiondbg: the tool's MLIR has no function " << symbol
                 << "; the agent was built for another MLIR\n";
    _exit(3);
  }
  return reinterpret_cast<Function *>(address);
}

/// Attaches to the front end at a socket when the next context is made.
void connectLater(const char *socket);

} // namespace adbg

#endif // ACTIONDBG_INTERPOSE_H
