//===- ForkSettings.h - The settings of a fork ------------------*- C++ -*-===//

#pragma once

#include "fork/Files.h"
#include <cstdint>

namespace adbg {

/// The role of a process of the tool.
enum class Role : uint8_t { Tool, Checkpoint, Replica, Trial };

const char *textOf(Role role);

/// The settings of a fork.
struct ForkSettings {
  Role role = Role::Replica;
  std::string socket;
  Outputs outputs;
  std::optional<ShownOutput> muted;
  std::vector<int> shared;
};

} // namespace adbg
