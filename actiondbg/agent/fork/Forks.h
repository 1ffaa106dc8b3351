//===- Forks.h - Forks of the tool at the same position ---------*- C++ -*-===//

#pragma once

#include "fork/Files.h"

namespace adbg {

/// Decides when the running tool freezes a fork of itself, and which forks it
/// keeps: the further back, the sparser.
class Checkpoints {
public:
  /// The event at which to check whether a checkpoint is due.
  uint64_t nextCheck = never;

  /// `milliseconds`: run time between two checkpoints; 0 disables them.
  void configure(const std::string &socket, int64_t milliseconds,
                 int64_t megabytes);
  /// Makes checkpoints denser towards an event that the tool runs to.
  void approach(uint64_t now, uint64_t target);
  void arrived() { target = 0; }
  /// Whether a checkpoint is due before the next event. `time`: the tool's run
  /// time in nanoseconds.
  bool isDue(uint64_t event, int64_t time);
  /// Registers a checkpoint that took `took` nanoseconds to make.
  void made(pid_t pid, uint64_t event, int64_t time, int64_t took);
  const std::string &socketPath() const { return socket; }

  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

private:
  struct Own {
    int pidfd;
    int64_t time;
    /// Upper bound of its private memory: pages copied since the fork.
    uint64_t pages;
  };
  /// Halfway from the start, or from the latest checkpoint, to the target.
  uint64_t halfway() const { return target - (target - since) / 2; }
  void plan(uint64_t event, int64_t time);
  void thin(int64_t time);
  void drop(size_t index);

  std::string socket;
  int64_t spacing = 0, lengthened = 0;
  uint64_t mostPages = 0;
  uint64_t target = 0, since = 0;
  uint64_t lastCheck = 0;
  int64_t lastCheckTime = 0, newest = 0;
  uint64_t faults = 0;
  std::vector<Own> own;
};

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
