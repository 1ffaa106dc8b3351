//===- Checkpoints.h - Frozen forks that the tool makes by itself *- C++
//-*-===//

#ifndef ACTIONDBG_CHECKPOINTS_H
#define ACTIONDBG_CHECKPOINTS_H

#include <cstdint>
#include <limits>
#include <string>
#include <sys/types.h>
#include <vector>

namespace adbg {

/// When the running tool freezes a fork of itself, and which of them it keeps:
/// the further back, the further apart.
class Checkpoints {
public:
  /// The tool looks whether it is time when it has come to this event.
  uint64_t lookAt = never;

  /// `milliseconds` of running lie between two; 0 for none.
  void configure(const std::string &socket, int64_t milliseconds,
                 int64_t megabytes);
  /// On the way to an event: the nearer, the closer.
  void approach(uint64_t now, uint64_t target);
  void arrived() { target = 0; }
  /// Returns whether a checkpoint is to be made before the next event. `time`:
  /// nanoseconds that the tool ran.
  bool isDue(uint64_t event, int64_t time);
  /// A checkpoint was made, which took so many nanoseconds.
  void made(pid_t pid, uint64_t event, int64_t time, int64_t took);
  const std::string &socketPath() const { return socket; }

  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

private:
  struct Own {
    int pidfd;
    uint64_t event;
    int64_t time;
    /// What it keeps of its own, at most: in pages that were copied since.
    uint64_t pages;
  };
  /// Halfway from where the way began, or from the newest one, to its target.
  uint64_t halfway() const { return target - (target - since) / 2; }
  void plan(uint64_t event, int64_t time);
  void thin(int64_t time);
  void drop(size_t index);

  std::string socket;
  int64_t spacing = 0, lengthened = 0;
  uint64_t mostPages = 0;
  uint64_t target = 0, since = 0;
  uint64_t lookedAt = 0;
  int64_t lookedTime = 0, newest = 0;
  uint64_t faults = 0;
  std::vector<Own> own;
};

} // namespace adbg

#endif // ACTIONDBG_CHECKPOINTS_H
