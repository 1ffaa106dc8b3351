//===- Forks.h - Forks of the tool at the same position ---------*- C++ -*-===//

#pragma once

#include "fork/Checkpoints.h"
#include "fork/Files.h"

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

class Connection;

/// Forks this process. A fork has the same position of the run as its parent
/// and a connection of its own.
class Forks {
public:
  explicit Forks(Connection &connection) : connection(connection) {}

  /// The role of this process.
  Role role = Role::Tool;
  Files files;
  Checkpoints checkpoints;

  /// Returns the pid; 0 in the child, after it has connected and called
  /// `onConnect`.
  pid_t fork(const ForkSettings &settings, function_ref<void()> onConnect);
  /// Forks a checkpoint at this event and time.
  pid_t forkCheckpoint(uint64_t event, function_ref<int64_t()> clock,
                       function_ref<void()> onConnect);
  /// Marks the process as running.
  void resumed() { isFrozen = false; }

private:
  void become(const ForkSettings &settings);

  Connection &connection;
  /// True in a fork that has not run yet and shares its files.
  bool isFrozen = false;
};

/// Reports the signal of each crash before the tool's own handler runs.
void handleCrashSignals();

/// Does so again if the tool has put handlers of its own in front since, as
/// llvm::CrashRecoveryContext does. Does nothing where it was not done before.
void keepCrashSignals();

/// Notes a jump of this thread, which may leave the handler of a crash.
void leaveCrash();

/// Returns the name of the signal of a crash, such as SIGABRT.
const char *signalName(int number);

} // namespace adbg
