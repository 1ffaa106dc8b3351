//===- Hooks.h - Functions of the tool that the agent replaces --*- C++ -*-===//

#pragma once

#include "detour/Instances.h"
#include "llvm/Support/Compiler.h"

namespace adbg {

/// A function of the tool, and the agent's that is called instead. Every hook
/// is in one section of the agent, so that the table is complete before any
/// constructor runs. Aligned so that a compiler that aligns large variables
/// leaves no room between them.
struct alignas(64) Hook {
  /// The mangled name.
  const char *symbol;
  /// By instance, the function that its MLIR calls.
  void *functions[Instances::most];
  /// Whether a call waits for other threads that use another MLIR: an action is
  /// observed as a whole, or not at all.
  bool isPatient = false;
  /// What differs by instance.
  struct Place {
    /// The function as it was; null if the tool has none.
    void *original = nullptr;
    /// Why the hook is not installed: a text that lives forever.
    const char *refusal = nullptr;
  };
  Place places[Instances::most] = {};

  Place &place() { return places[Instances::current()]; }
  const Place &place() const { return places[Instances::current()]; }
};

/// The tool's own function behind a hook, in the MLIR of the current instance.
template <Hook &hook, typename Function> struct Original;
template <Hook &hook, typename Result, typename... Operands>
struct Original<hook, Result(Operands...)> {
  /// Whether the MLIR has the function.
  explicit operator bool() const { return hook.place().original; }
  LLVM_ATTRIBUTE_ALWAYS_INLINE Result operator()(Operands... operands) const {
    return reinterpret_cast<Result (*)(Operands...)>(hook.place().original)(
        std::forward<Operands>(operands)...);
  }
};

/// Calls the agent's function for the MLIR of an instance.
template <auto function, unsigned instance> struct InInstance;
template <Hook &hook, typename Result, typename... Operands,
          Result (*function)(Original<hook, Result(Operands...)>, Operands...),
          unsigned instance>
struct InInstance<function, instance> {
  static Result call(Operands... operands) {
    using Next = Original<hook, Result(Operands...)>;
    if (!Instances::areSeveral())
      return function(Next(), std::forward<Operands>(operands)...);
    InstanceUse use(instance, hook.isPatient);
    auto *original = reinterpret_cast<Result (*)(Operands...)>(
        hook.places[instance].original);
    return use ? function(Next(), std::forward<Operands>(operands)...)
               : original(std::forward<Operands>(operands)...);
  }
};

/// A function or table of the tool that the agent uses.
struct ToolFunction {
  /// Mangled.
  std::string_view symbol;
  /// "replaced", "called", "absent", or why it is not replaced.
  const char *state;
};

/// Whether calls of a function of the current instance's MLIR come to the
/// agent.
bool isInterposed(std::string_view symbol);

/// The hooks that are not installed in the current instance's MLIR, with a
/// reason each.
std::vector<const Hook *> refusedHooks();

/// Lists the functions of the current instance's MLIR that the agent replaces
/// or calls, or would.
std::vector<ToolFunction> toolFunctions();

} // namespace adbg

#define ADBG_HOOK_SECTION                                                      \
  __attribute__((section("adbg_hooks"), used, visibility("hidden")))
