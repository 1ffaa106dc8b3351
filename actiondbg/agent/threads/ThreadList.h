//===- ThreadList.h - The threads that ran actions --------------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg {

/// The id that the kernel gave to this thread.
pid_t threadId();

/// The threads that ran actions, numbered in the order of their first one.
class ThreadList {
public:
  struct Record {
    pid_t id = 0;
    /// Followed actions, and those that ran while another thread was followed.
    uint64_t actions = 0;
    std::atomic<uint64_t> unfollowed{0};
    /// The number of the context of its newest outermost action.
    std::atomic<unsigned> context{0};
    std::atomic<bool> isWaiting{false}, isOver{false};
  };
  /// Returns the number of this thread; -1 if it ran no action.
  static int own() { return number; }
  /// Returns the record of this thread; adds one at its first action.
  Record &enter();
  /// Marks this thread as over.
  void leave();
  size_t count() const { return size.load(std::memory_order_relaxed); }
  /// Calls `see` with each number and record.
  template <typename See> void each(See see) {
    std::lock_guard<std::mutex> lock(mutex);
    for (size_t i = 0; i < records.size(); ++i)
      see(i, records[i]);
  }
  /// The name of a thread, such as t0.
  static std::string nameOf(int number) { return "t" + std::to_string(number); }

private:
  static __thread int number;
  static __thread Record *known;
  std::mutex mutex;
  // Its elements stay where they are.
  std::deque<Record> records;
  std::atomic<size_t> size{0};
};

} // namespace adbg
