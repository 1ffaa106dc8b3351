//===- Hooks.h - Functions of the tool that the agent replaces --*- C++ -*-===//

#ifndef ACTIONDBG_DETOUR_HOOKS_H
#define ACTIONDBG_DETOUR_HOOKS_H

#include <string>
#include <string_view>
#include <vector>

namespace adbg {

/// A function of the tool, and the agent's that is called instead. Every hook
/// is in one section of the agent, so that the table is complete before any
/// constructor runs.
struct Hook {
  /// The mangled name.
  const char *symbol;
  void *function;
  /// The function as it was; null if the tool has none.
  void *original = nullptr;
  /// Why the hook is not installed: a text that lives forever.
  const char *refusal = nullptr;

  bool isInstalled() const { return original && !refusal; }
};

/// The agent's hooks in the tool's MLIR. A process may have several libraries
/// with an MLIR of their own: the first one that makes a context gets the
/// agent, and the others run unobserved.
class Hooks {
public:
  /// Whether calls of a function come to the agent.
  bool isInstalled(std::string_view symbol) const;
  /// Returns the function as it is without the agent; null if there is none.
  void *original(std::string_view symbol) const;
  /// Whether `symbol` is the name of a hook at all.
  bool isHook(std::string_view symbol) const { return find(symbol); }

  /// The hooks that are not installed, with a reason each.
  std::vector<const Hook *> refused() const;
  /// The names that the agent refers to, and that the tool does not have.
  const std::vector<std::string_view> &missing() const { return unbound; }
  /// The file of the MLIR with the agent; empty before there is a context.
  const std::string &path() const { return attachedPath; }

private:
  friend class Attacher;
  const Hook *find(std::string_view symbol) const;

  std::vector<std::string_view> unbound;
  std::string attachedPath;
};

Hooks &hooks();

} // namespace adbg

#define ADBG_HOOK_SECTION                                                      \
  __attribute__((section("adbg_hooks"), used, visibility("hidden")))

#endif // ACTIONDBG_DETOUR_HOOKS_H
