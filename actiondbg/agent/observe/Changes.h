//===- Changes.h - What was changed, in order -------------------*- C++ -*-===//

#ifndef ACTIONDBG_CHANGES_H
#define ACTIONDBG_CHANGES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace adbg {

enum class ChangeKind : uint8_t { Inserted, Erased, Replaced, Modified, Moved };
constexpr unsigned changeKinds = 5;
llvm::StringRef textOf(ChangeKind kind);

/// A value as a change names it: the operation may be gone since.
struct ValueName {
  uint32_t id;
  uint32_t result;
  bool isArgument;
  llvm::StringRef op;
};

/// One change. It refers to what lives as long as the context, never to IR.
struct Change {
  ChangeKind kind;
  bool isBlock;
  bool guess;
  /// Of a block: of the operation that holds it; 0 if it is not known.
  uint32_t id;
  /// The action that did it, 0 for none.
  uint64_t ordinal;
  mlir::OperationName op;
  mlir::Location loc;
  llvm::SmallVector<ValueName, 0> by;
};

/// How many changes an action has made so far, nested actions included.
struct Tally {
  /// Where its changes begin in the log, counted from the start of the run.
  uint64_t first = 0;
  /// Operations of this number and above were made since it began.
  uint32_t firstId = 0;
  uint32_t counts[changeKinds] = {};
  /// Changes that are not undone: what it inserts and erases again is none.
  int32_t net = 0;
  /// The same, without nested actions.
  int32_t ownNet = 0;
  /// There was a change, undone or not.
  bool isTouched = false;

  uint64_t total() const {
    uint64_t sum = 0;
    for (uint32_t count : counts)
      sum += count;
    return sum;
  }
};

/// The newest changes of the actions that run now. Bounded: what an action with
/// very many changes did first is counted, but not held.
class ChangeLog {
public:
  uint64_t end() const { return dropped + held.size(); }
  uint64_t begin() const { return dropped; }
  const Change &operator[](uint64_t index) const {
    return held[index - dropped];
  }
  void add(Change change);
  /// One that is counted only: those before it cannot be told in order then.
  void pass() {
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
  /// No action runs any more.
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

#endif // ACTIONDBG_CHANGES_H
