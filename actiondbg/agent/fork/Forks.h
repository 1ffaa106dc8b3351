//===- Forks.h - Forks of the tool at the same position ---------*- C++ -*-===//

#ifndef ACTIONDBG_FORKS_H
#define ACTIONDBG_FORKS_H

#include "fork/Checkpoints.h"
#include "fork/ForkOrder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adbg {

class Connection;

/// Forks this process. A fork is at the same position of the run as its parent,
/// and has a connection of its own.
class Forks {
public:
  explicit Forks(Connection &connection) : connection(connection) {}

  /// What this process is for.
  Role role = Role::Tool;
  Files files;
  Checkpoints checkpoints;

  /// Returns the pid; 0 in the child, which is connected, and has called
  /// `onConnect`.
  pid_t fork(const ForkOrder &order, llvm::function_ref<void()> onConnect);
  /// The same for a checkpoint, at this event and time.
  pid_t forkCheckpoint(uint64_t event, llvm::function_ref<int64_t()> clock,
                       llvm::function_ref<void()> onConnect);
  /// The process runs from now on.
  void resumed() { isFrozen = false; }

private:
  void become(const ForkOrder &order);

  Connection &connection;
  /// In a fork that has not run since, and shares its files.
  bool isFrozen = false;
};

} // namespace adbg

#endif // ACTIONDBG_FORKS_H
