//===- Interpose.h - Functions in front of others ---------------*- C++ -*-===//
//
// ADBG_INTERPOSE defines a function that is called instead of one of the
// tool's: it is entered in the table of hooks, and the code of the other one is
// changed to jump to it, whether it is exported or not. Member functions are
// defined as functions with an explicit `this`. `next` is the original. Of
// functions that are treated alike, ADBG_INTERPOSE_BY enters an instance each
// of one template, which takes the original first.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "detour/Hooks.h"
#include "engine/Frame.h"
#include "interpose/Versions.h"
#include "support/ExitAtOnce.h"

#include "mlir/IR/PatternMatch.h"

/// For functions of the C library, and those that programs call.
#define ADBG_EXPORT __attribute__((visibility("default"), used))

/// Begins a function of the C library that the agent takes the place of.
#define ADBG_LIBC(RESULT, NAME, SYMBOL, ...)                                   \
  ADBG_EXPORT RESULT NAME(__VA_ARGS__) __asm__(SYMBOL);                        \
  RESULT NAME(__VA_ARGS__)

// NOLINTBEGIN(bugprone-macro-parentheses)
#define ADBG_IN_INSTANCE(AROUND, RESULT, NAME, INSTANCE, ...)                  \
  reinterpret_cast<void *>(                                                    \
      &adbg::InInstance<static_cast<RESULT (*)(NAME##Next, __VA_ARGS__)>(      \
                            &AROUND),                                          \
                        INSTANCE>::call)
// NOLINTEND(bugprone-macro-parentheses)

#define ADBG_INTERPOSE_BY(AROUND, RESULT, NAME, SYMBOL, ...)                   \
  extern adbg::Hook NAME##Hook __attribute__((visibility("hidden")));          \
  using NAME##Next = adbg::Original<NAME##Hook, RESULT(__VA_ARGS__)>;          \
  static_assert(adbg::Instances::most == 4);                                   \
  ADBG_HOOK_SECTION adbg::Hook NAME##Hook{                                     \
      SYMBOL,                                                                  \
      {ADBG_IN_INSTANCE(AROUND, RESULT, NAME, 0, __VA_ARGS__),                 \
       ADBG_IN_INSTANCE(AROUND, RESULT, NAME, 1, __VA_ARGS__),                 \
       ADBG_IN_INSTANCE(AROUND, RESULT, NAME, 2, __VA_ARGS__),                 \
       ADBG_IN_INSTANCE(AROUND, RESULT, NAME, 3, __VA_ARGS__)}};

#define ADBG_INTERPOSE(RESULT, NAME, SYMBOL, ...)                              \
  extern adbg::Hook NAME##Hook __attribute__((visibility("hidden")));          \
  using NAME##Next = adbg::Original<NAME##Hook, RESULT(__VA_ARGS__)>;          \
  static RESULT NAME(NAME##Next next, __VA_ARGS__);                            \
  ADBG_INTERPOSE_BY(NAME, RESULT, NAME, SYMBOL, __VA_ARGS__)                   \
  static RESULT NAME(NAME##Next next, __VA_ARGS__)

namespace adbg {

/// Returns the function of the C library that `symbol` is without this agent.
template <typename Function> Function *real(const char *symbol) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, symbol));
}

/// Has the agent follow what runs in a context: one that was just made, or that
/// is older than the agent in this program.
void observeContext(MLIRContext *context);

/// Follows an action, if it is this thread's turn. `run` runs it as the tool
/// would, with the tool's own handler, if it has one.
void runAction(Frame &frame, function_ref<void()> run);

/// Whether the patterns of a set can be read: proved by the first set that has
/// some.
bool arePatternsKnown(const RewritePatternSet &patterns);

/// Notes the reasons that a rewriter's listener is told while this exists. A
/// listener of our own would need every virtual function of the tool's class.
/// Instead the listener that is there gets a copy of its virtual table with
/// another notifyMatchFailure. A rewriter without a listener gets one that
/// ignores all else.
class ReasonListener {
public:
  /// `op`: to which patterns are applied.
  ReasonListener(PatternRewriter &rewriter, Operation *op);
  ~ReasonListener();
  ReasonListener(const ReasonListener &) = delete;

  /// Whether the layout of listeners is as expected: false after the first
  /// rewriter that is not.
  static bool isKnown();

private:
  /// The tool's listener; null if it is left alone.
  void *listener = nullptr;
  const void *table = nullptr;
  /// Where a rewriter without a listener has its pointer to one.
  void **lacking = nullptr;
  /// What held before, for patterns that are applied inside of patterns.
  bool wasHearing, wereHeard;
};

} // namespace adbg
