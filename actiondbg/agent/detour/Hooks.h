//===- Hooks.h - Functions of the tool that the agent replaces --*- C++ -*-===//

#pragma once

#include "detour/Instances.h"

#include <string_view>
#include <utility>
#include <vector>

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

/// Calls the agent's function for the MLIR of an instance.
template <auto function, Hook &hook, unsigned instance> struct InInstance;
template <typename Result, typename... Operands,
          Result (*function)(Operands...), Hook &hook, unsigned instance>
struct InInstance<function, hook, instance> {
  static Result call(Operands... operands) {
    if (!Instances::areSeveral())
      return function(std::forward<Operands>(operands)...);
    InstanceUse use(instance, hook.isPatient);
    auto *original =
        reinterpret_cast<decltype(function)>(hook.places[instance].original);
    return use ? function(std::forward<Operands>(operands)...)
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

/// The agent's hooks in the MLIR of the current instance.
class Hooks {
public:
  /// Whether calls of a function come to the agent.
  bool isInstalled(std::string_view symbol) const;

  /// The hooks that are not installed, with a reason each.
  std::vector<const Hook *> refused() const;

  /// Lists the functions of the current instance's MLIR that the agent
  /// replaces or calls, or would.
  std::vector<ToolFunction> functions() const;

  /// Returns the hook of a function; null if there is none.
  Hook *find(std::string_view symbol) const;
};

Hooks &hooks();

} // namespace adbg

#define ADBG_HOOK_SECTION                                                      \
  __attribute__((section("adbg_hooks"), used, visibility("hidden")))
