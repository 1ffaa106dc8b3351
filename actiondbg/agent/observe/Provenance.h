//===- Provenance.h - What new operations are made of -----------*- C++ -*-===//

#pragma once

#include "observe/Identity.h"

namespace adbg {

/// The operations that defined operands at one time. Giving the uses of a value
/// to another one notifies nobody: the operands show it afterwards.
class OperandSnapshot {
public:
  /// Adds the operands of the operations in the nearest operation around `op`
  /// that is isolated from above, unless they were added before. The
  /// regions of isolated operations in there are left out: other threads may
  /// work on them.
  void addAround(Operation *op);
  /// Calls `report` with the id of each operation that is now the operand in
  /// the place of an erased operation, and with the id of the erased operation.
  /// Only operations with ids from `first` on are reported.
  void heirs(uint32_t first,
             function_ref<void(uint32_t, uint32_t)> report) const;

private:
  struct User {
    OperationHandle op;
    /// The number of operands, and the place of the first in `definers`.
    unsigned count;
    size_t first;
  };

  void add(Operation *op);

  std::unordered_set<Operation *> roots;
  std::vector<User> users;
  /// Without an operation for arguments of blocks.
  std::vector<OperationHandle> definers;
};

class Recorder;

/// Records which operations new ones are made of, where no change reports it.
class Provenance {
public:
  /// An action places a new operation in a block: it is not in the list yet.
  /// `first`: the first id of operations that the action made.
  void placed(Operation *op, uint64_t ordinal, uint32_t first,
              Recorder &recorder);
  /// Called at the next event: records the old operation in front of which the
  /// latest one was placed.
  void settle(Recorder &recorder) {
    if (LLVM_UNLIKELY(latest != nullptr))
      settleLatest(recorder);
  }
  /// A block of `from` was copied or moved to `block`.
  void tookBody(Block *block, Operation *from, uint64_t ordinal, uint32_t first,
                Recorder &recorder);
  /// The latest operation was placed for one that is known.
  void forgetPlace() { latest = nullptr; }
  void destroyed(Operation *op) {
    if (op == latest)
      latest = nullptr;
  }
  void forgetBlock(Block *block) {
    if (LLVM_UNLIKELY(!bodies.empty()))
      bodies.erase(block);
  }
  void forget() {
    latest = nullptr;
    bodies.clear();
  }

private:
  struct Origin {
    uint32_t id = 0;
    const void *name = nullptr;
  };
  void settleLatest(Recorder &recorder);
  Operation *placeOfLatest() const;

  Operation *latest = nullptr;
  uint64_t ordinalOfLatest = 0;
  uint32_t firstOfLatest = 0;
  /// The operations whose blocks are in regions without an operation.
  std::unordered_map<Block *, Origin> bodies;
};

} // namespace adbg
