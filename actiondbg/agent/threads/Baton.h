//===- Baton.h - The thread whose actions are followed ----------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg {

/// The id that the kernel gave to this thread.
pid_t threadId();

/// A lock that a thread holds during its outermost action, so that the engine
/// has one stack of actions and one count of them, whatever thread they run
/// in. Free to take while one thread runs actions. Async-signal-safe.
class Baton {
public:
  /// `event`: counts the events of the holder, which is stuck when it neither
  /// makes any nor runs: then it may wait for the thread that wants the baton.
  explicit Baton(const uint64_t &event) : event(event) {}

  enum class Patience : uint8_t {
    /// While another thread is at a stop, waits as the scheduler is set.
    AsSet,
    /// Waits for the end of any stop: a crash or the end of the process.
    Always
  };
  /// Waits for the baton. Returns false if the caller is to go on without it.
  bool take(Patience patience = Patience::AsSet) {
    uint32_t expected = Free;
    if (!state.compare_exchange_strong(expected, Held,
                                       std::memory_order_acquire) &&
        !wait(patience))
      return false;
    noteHolder();
    return true;
  }
  /// Takes it if it is free.
  bool tryTake();
  void give();

  /// Called by the holder when it stops and when it is resumed.
  void stopped(bool is) { isStopped = is; }
  /// Whether the others wait while the holder is at a stop, at their next
  /// outermost action; otherwise these actions are counted only.
  std::atomic<bool> waitsAtStops{true};
  /// The thread id of the holder; 0 if there is none.
  pid_t holder() const { return state != Free ? holding.load() : 0; }

private:
  enum State : uint32_t { Free, Held, Wanted };
  bool wait(Patience patience);
  bool waitMore(Patience patience);
  void noteHolder();
  bool isHolderAsleep() const;
  uint64_t eventNow() const {
    return __atomic_load_n(&event, __ATOMIC_RELAXED);
  }

  const uint64_t &event;
  std::atomic<uint32_t> state{Free};
  std::atomic<pid_t> holding{0};
  std::atomic<bool> isStopped{false};
  /// The event at which the holder was found stuck.
  std::atomic<uint64_t> stuckAt{~uint64_t(0)};
};

/// While one lives, those of other threads wait: threads may make the first
/// contexts at the same time. Holds in a fork, too, unlike a mutex that may be
/// locked again by its owner.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread &) = delete;

private:
  bool isOuter;
};

} // namespace adbg
