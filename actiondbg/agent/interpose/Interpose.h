//===- Interpose.h - Functions in front of others ---------------*- C++ -*-===//
//
// ADBG_INTERPOSE defines a function that is called instead of one of the
// tool's: it is entered in the table of hooks, and the code of the other one is
// changed to jump to it, whether it is exported or not. Member functions are
// defined as functions with an explicit `this`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "detour/Hooks.h"
#include "interpose/Versions.h"
#include "support/ExitAtOnce.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <utility>

/// For functions of the C library, and those that programs call.
#define ADBG_EXPORT __attribute__((visibility("default"), used))

// NOLINTBEGIN(bugprone-macro-parentheses)
#define ADBG_IN_INSTANCE(RESULT, NAME, INSTANCE, ...)                          \
  reinterpret_cast<void *>(                                                    \
      &adbg::InInstance<static_cast<RESULT (*)(__VA_ARGS__)>(&NAME),           \
                        NAME##Hook, INSTANCE>::call)
// NOLINTEND(bugprone-macro-parentheses)

#define ADBG_INTERPOSE(RESULT, NAME, SYMBOL, ...)                              \
  static RESULT NAME(__VA_ARGS__);                                             \
  extern adbg::Hook NAME##Hook __attribute__((visibility("hidden")));          \
  static_assert(adbg::Instances::most == 4);                                   \
  ADBG_HOOK_SECTION adbg::Hook NAME##Hook{                                     \
      SYMBOL,                                                                  \
      {ADBG_IN_INSTANCE(RESULT, NAME, 0, __VA_ARGS__),                         \
       ADBG_IN_INSTANCE(RESULT, NAME, 1, __VA_ARGS__),                         \
       ADBG_IN_INSTANCE(RESULT, NAME, 2, __VA_ARGS__),                         \
       ADBG_IN_INSTANCE(RESULT, NAME, 3, __VA_ARGS__)}};                       \
  static RESULT NAME(__VA_ARGS__)

namespace adbg {

/// Returns the function of the C library that `symbol` is without this agent.
template <typename Function> Function *real(const char *symbol) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, symbol));
}

/// A function of MLIR as it is without this agent: that of the current
/// instance.
template <typename Function> class Original;
template <typename Result, typename... Operands>
class Original<Result(Operands...)> {
public:
  explicit Original(const char *symbol) : hook(hooks().find(symbol)) {}

  /// Whether the MLIR has the function.
  explicit operator bool() const { return hook && hook->place().original; }
  LLVM_ATTRIBUTE_ALWAYS_INLINE Result operator()(Operands... operands) const {
    return reinterpret_cast<Result (*)(Operands...)>(hook->place().original)(
        std::forward<Operands>(operands)...);
  }

private:
  const Hook *hook;
};

/// Whether calls of the tool's function come to the agent.
inline bool isInterposed(const char *symbol) {
  return hooks().isInstalled(symbol);
}

} // namespace adbg

namespace adbg {

/// Attaches to the front end at a socket when the next context is made.
void connectLater(const char *socket);
/// Whether a front end started this process, which has made no context yet.
bool isStartedByFrontEnd();

} // namespace adbg
