//===- Turn.h - One outermost action of a thread ----------------*- C++ -*-===//

#pragma once

#include "support/System.h"
#include "threads/Contexts.h"

#include "llvm/Support/JSON.h"

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

class Engine;
class Turn;

/// The threads of the debugged process, and which of them is followed.
class Turns {
public:
  explicit Turns(Engine &engine);

  Baton baton;
  ThreadList threads;
  /// The actions that ran without being followed.
  std::atomic<uint64_t> unfollowed{0};
  /// The outermost action that is followed now.
  struct Current {
    /// Null if none is.
    ThreadList::Record *record = nullptr;
    unsigned context = Contexts::unknown;
    int thread = -1;
    uint64_t firstOrdinal = 0;
  };
  Current current;

  /// Called once, by the thread that made the first context.
  void begin();
  /// The number of actions of the current turn so far.
  uint64_t actions() const;
  /// Whether a thread other than that one has run actions.
  bool isShared() const { return shared.load(std::memory_order_relaxed); }
  /// Why this process cannot be forked now; nullopt if it can.
  std::optional<std::string> whyNoFork() const;
  /// Passes the interrupt of this thread to the one that is to stop. Returns
  /// false if that is this one. Called in a signal handler.
  bool passesInterrupt();
  /// Stops this thread inside its action. Called in a signal handler.
  void stopInside();

  // The contexts and threads, as JSON.
  /// Adds the thread, and what depends on the threads, to a stop.
  void describe(Object &stop) const;
  Array describeContexts() const;
  Array describeThreads();

private:
  friend class Turn;
  /// Makes the first thread take turns, too.
  void share();
  void start(unsigned context, ThreadList::Record *record);
  /// Ends the turn of this thread.
  void end();
  /// Called when a thread ends.
  static void leave(void *turns);

  Engine &engine;
  std::atomic<bool> shared{false};
  /// State of the thread that made the first context; null once it is over.
  struct Home {
    std::mutex mutex;
    bool *isFollowed = nullptr;
    const unsigned *agentHeapUses = nullptr;
    pid_t id = 0;
  };
  Home home;
};

/// The name of a context, or null if it is unknown.
Json contextJson(unsigned number);
/// The name of the file of a context's MLIR; null if there is one MLIR.
Json mlirJson(unsigned number);

/// While one lives, the actions of this thread are followed, if it is true:
/// either it is its turn, or its actions were followed anyway.
class Turn {
public:
  enum class For : uint8_t { Action, Event, End };
  /// `context`: the number of the context of an action. An end, of the process,
  /// waits for the end of any stop.
  explicit Turn(Engine &engine, For what, unsigned context = Contexts::unknown);
  ~Turn();
  Turn(const Turn &) = delete;

  explicit operator bool() const { return isFollowed; }
  void end();

private:
  bool take(For what, unsigned context);

  Engine &engine;
  bool isFollowed = false, isTaken = false, isPassing = false;
  ThreadList::Record *record = nullptr;
};

} // namespace adbg
