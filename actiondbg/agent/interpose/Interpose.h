//===- Interpose.h - Functions in front of others ---------------*- C++ -*-===//
//
// ADBG_INTERPOSE defines a function that is called instead of one of the
// tool's. Usually it is exported under the name of the other one, and the
// preloaded agent comes first. With ADBG_DETOUR it is only entered in the table
// of hooks, and the code of the other one is changed to jump to it: this
// reaches functions that are not exported. Member functions are defined as
// functions with an explicit `this`.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_INTERPOSE_H
#define ACTIONDBG_INTERPOSE_H

#include "interpose/Versions.h"
#include "support/ExitAtOnce.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <unistd.h>

/// For functions of the C library, and those that programs call.
#define ADBG_EXPORT __attribute__((visibility("default"), used))

#ifdef ADBG_DETOUR

#include "detour/Hooks.h"

namespace adbg {
/// Whether the agent is called for what functions of one file of MLIR call in
/// each other. A preloaded agent is called only for what others call.
constexpr bool seesInnerCalls = true;
} // namespace adbg

#define ADBG_INTERPOSE(RESULT, NAME, SYMBOL, ...)                              \
  static RESULT NAME(__VA_ARGS__);                                             \
  ADBG_HOOK_SECTION adbg::Hook NAME##Hook{                                     \
      SYMBOL,                                                                  \
      reinterpret_cast<void *>(static_cast<RESULT (*)(__VA_ARGS__)>(&NAME))};  \
  static RESULT NAME(__VA_ARGS__)

namespace adbg {

/// Returns the function that `symbol` is without this agent; null if the tool
/// has none.
template <typename Function> Function *real(const char *symbol) {
  void *address = hooks().isHook(symbol) ? hooks().original(symbol)
                                         : dlsym(RTLD_NEXT, symbol);
  return reinterpret_cast<Function *>(address);
}

/// Whether calls of the tool's function come to the agent.
inline bool isInterposed(const char *symbol) {
  return hooks().isInstalled(symbol);
}

} // namespace adbg

#else

namespace adbg {
constexpr bool seesInnerCalls = false;
} // namespace adbg

#define ADBG_INTERPOSE(RESULT, NAME, SYMBOL, ...)                              \
  ADBG_EXPORT RESULT NAME(__VA_ARGS__) __asm__(SYMBOL);                        \
  RESULT NAME(__VA_ARGS__)

namespace adbg {

/// Returns the function that `symbol` resolves to without this agent.
template <typename Function> Function *real(const char *symbol) {
  void *address = dlsym(RTLD_NEXT, symbol);
  if (!address) {
    llvm::errs() << "actiondbg: the tool's MLIR has no function " << symbol
                 << "; the agent was built for another MLIR\n";
    exitAtOnce(3);
  }
  return reinterpret_cast<Function *>(address);
}

/// Whether calls of the tool's function come to the agent.
inline bool isInterposed(const char *symbol) {
  return dlsym(RTLD_NEXT, symbol) != nullptr;
}

} // namespace adbg

#endif // ADBG_DETOUR

namespace adbg {

/// Attaches to the front end at a socket when the next context is made.
void connectLater(const char *socket);
/// Whether a front end started this process, which has made no context yet.
bool isStartedByFrontEnd();

} // namespace adbg

#endif // ACTIONDBG_INTERPOSE_H
