//===- ForkOrder.h - What a fork of the tool is for -------------*- C++ -*-===//

#ifndef ACTIONDBG_FORKORDER_H
#define ACTIONDBG_FORKORDER_H

#include "fork/Files.h"
#include <cstdint>

namespace adbg {

/// What a process of the tool is for.
enum class Role : uint8_t { Tool, Checkpoint, Replica, Trial };

const char *textOf(Role role);

/// How a fork is to be.
struct ForkOrder {
  Role role = Role::Replica;
  std::string socket;
  Outputs outputs;
  std::optional<Written> muted;
  std::vector<int> shared;
};

} // namespace adbg

#endif // ACTIONDBG_FORKORDER_H
