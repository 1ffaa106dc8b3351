//===- RunTrace.h - The actions of the run, for its replays -----*- C++ -*-===//
//
// A replay of a deterministic tool dispatches the actions of the run again.
// The run notes each of its actions in memory that its forks share; a replay
// compares its own actions with them, and keeps the first difference. So does a
// run that went back in time, as far as it went before.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "engine/Frame.h"

#include "llvm/Support/JSON.h"

namespace adbg {

/// The first action of a replay that differs from the run, or of a run that
/// differs from itself before it went back: its ordinal, and what each of them
/// dispatched.
struct Difference {
  uint64_t ordinal;
  std::string run, replay;
};
Json toJSON(const Difference &difference);

class RunTrace {
public:
  /// Begins the trace of this process, the run; without memory there is none.
  void begin();
  /// In a fork: `compares` for a replay of the run's timeline.
  void forked(bool compares);
  /// In a fork that takes the place of the run, after the action `ordinal`
  /// began.
  void becomeRun(uint64_t ordinal);

  /// Notes or compares an action that begins.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void note(const Frame &frame) {
    if (LLVM_LIKELY(use == Use::Write)) {
      shared->count = frame.ordinal;
      if (LLVM_UNLIKELY(frame.ordinal <= shared->reached) &&
          !compareAgain(frame))
        return;
      at(frame.ordinal) = entryOf(frame);
    } else if (use == Use::Compare) {
      compare(frame);
    } else {
      isComplete = false;
    }
  }
  /// Called when the process ends after `ordinal` actions.
  void end(uint64_t ordinal);

  /// Adds the first difference, or null.
  void describe(Object &stop) const { stop["difference"] = found; }

private:
  enum class Use : uint8_t { None, Write, Compare };
  /// `name` and `op` are indices in the list of names. Index 0 means that the
  /// list has no room for the name.
  struct Entry {
    uint16_t name, op;
    uint32_t id;
    bool operator==(const Entry &other) const = default;
  };
  static constexpr uint64_t kept = 1 << 20;
  /// Zeroed memory; the kernel maps a page at its first write.
  struct Shared {
    /// The ordinals of the actions that were noted; the oldest are overwritten.
    uint64_t first, count;
    /// Of a run that went back: the newest action before that.
    uint64_t reached;
    /// Whether the run has ended.
    bool isOver;
    uint32_t nameBytes;
    char names[1 << 20];
    Entry entries[kept];
  };

  Entry &at(uint64_t ordinal) const {
    return shared->entries[ordinal & (kept - 1)];
  }
  /// The newest action that any process of the run has noted.
  uint64_t newest() const { return std::max(shared->count, shared->reached); }
  bool isKept(uint64_t ordinal) const {
    return ordinal >= shared->first && ordinal + kept > newest();
  }
  bool holds(uint64_t ordinal) const {
    return ordinal <= shared->count && isKept(ordinal);
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE Entry entryOf(const Frame &frame) {
    Operation *op = frame.firstOp();
    return {nameOf(frame), op ? nameOf(op) : uint16_t(0),
            op ? ids.of(op) : uint32_t(0)};
  }
  uint16_t nameOf(const Frame &frame);
  uint16_t nameOf(Operation *op);
  uint16_t numberOf(StringRef text);
  /// Reads names that another process of the run has added.
  void readNames();
  void compare(const Frame &frame);
  /// Compares an action of a run that went back, unless a newer one is in its
  /// place. Returns whether to note it.
  bool compareAgain(const Frame &frame);
  void differ(const Frame &frame, const Entry &own, std::string run);
  std::string textOf(const Entry &entry) const;

  Use use = Use::None;
  /// Whether what this process did is in the shared memory.
  bool isComplete = false;
  Shared *shared = nullptr;
  Memo<uint16_t> patterns;
  KeyMemo<uint16_t> operations;
  uint16_t fold = 0;
  TextMap<uint16_t> numbers;
  std::vector<StringRef> texts{""};
  uint32_t readBytes = 0;
  std::optional<Difference> found;
};

} // namespace adbg
