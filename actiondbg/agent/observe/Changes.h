//===- Changes.h - The change log -------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

enum class ChangeKind : uint8_t { Inserted, Erased, Replaced, Modified, Moved };
constexpr unsigned changeKinds = 5;
inline StringRef textOf(ChangeKind kind) {
  static const char *const texts[changeKinds] = {
      "inserted", "erased", "replaced", "modified", "moved"};
  return texts[static_cast<unsigned>(kind)];
}

/// A value in a change, identified by text and numbers: its operation may have
/// been erased since.
struct ValueName {
  uint32_t id;
  uint32_t result;
  bool isArgument;
  StringRef op;
};

/// One change. It holds pointers to data owned by the context, never to IR.
struct Change {
  ChangeKind kind;
  bool isBlock;
  bool guess;
  /// The operation id; for a block, that of its parent operation, 0 if unknown.
  uint32_t id;
  /// The ordinal of the action that made the change; 0 for none.
  uint64_t ordinal;
  OperationName op;
  Location loc;
  std::vector<ValueName> by;
};

/// The number of changes of an action so far, nested actions included.
struct Tally {
  /// The index of its first change, counted from the start of the run.
  uint64_t first = 0;
  /// The first operation id created since the action began.
  uint32_t firstId = 0;
  uint32_t counts[changeKinds] = {};
  /// Changes minus undone ones: an operation that is inserted and erased again
  /// counts 0.
  int32_t net = 0;
  /// The same, without nested actions.
  int32_t ownNet = 0;
  /// Whether there was any change, undone or not.
  bool isTouched = false;

  uint64_t total() const {
    uint64_t sum = 0;
    for (uint32_t count : counts)
      sum += count;
    return sum;
  }
};

/// The latest changes of the running actions. Bounded: the earliest changes of
/// an action with very many are counted but dropped.
class ChangeLog {
public:
  uint64_t end() const { return dropped + held.size(); }
  uint64_t begin() const { return dropped; }
  const Change &operator[](uint64_t index) const {
    return held[index - dropped];
  }
  void add(Change change) {
    if (held.size() == most) {
      held.erase(held.begin(), held.begin() + most / 2);
      dropped += most / 2;
    }
    held.push_back(std::move(change));
  }
  /// Counts a change without storing it: earlier changes can then no longer be
  /// listed in order.
  void countOnly() {
    if (LLVM_UNLIKELY(!held.empty()))
      clear();
    ++dropped;
  }
  void dropLast() {
    if (held.empty())
      --dropped;
    else
      held.pop_back();
  }
  /// Clears the log: no action is running.
  void clear() {
    dropped += held.size();
    held.clear();
  }

private:
  static constexpr size_t most = 16384;
  std::vector<Change> held;
  uint64_t dropped = 0;
};

} // namespace adbg
