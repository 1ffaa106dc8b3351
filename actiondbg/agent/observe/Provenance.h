//===- Provenance.h - What new operations are made of -----------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

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
