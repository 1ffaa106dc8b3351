//===- ValueKeys.h - Values without names -----------------------*- C++ -*-===//
//
// MLIR's printer numbers values anew at each print. The front end therefore
// names them itself: the agent sends keys.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Unit.h"
#include "observe/Identity.h"

namespace adbg {

/// Whether `op`, without its regions, can be printed in its custom form.
bool isPrintable(Operation *op);

/// The keys of blocks: the number of each insertion of a new block, which is
/// the same in each run and each replay, unlike its address. A block keeps its
/// key when it moves to another operation. A recording numbers blocks if it
/// holds IR.
class BlockKeys {
public:
  static BlockKeys &all() { return immortal<BlockKeys>(); }

  /// Called when a new block is inserted into a region.
  void added(Block *block) {
    if (!isNumbering)
      return;
    Lock lock(*this);
    removed(block); // of a block that was freed unseen
    numbers[block] = ++last;
  }
  /// Returns the number of blocks that were inserted so far.
  uint32_t created() {
    Lock lock(*this);
    return last;
  }
  /// Returns the number of a block's insertion; 0 if it was not observed.
  uint32_t numberOf(Block *block) {
    Lock lock(*this);
    return valueOf(numbers, block);
  }
  /// Returns `/7` for block 7; `12/1/0` for block 0 of region 1 of operation
  /// @12, if its insertion was not observed.
  std::string of(Block *block);
  /// Returns the block with a key, or null.
  Block *find(StringRef key) {
    Lock lock(*this);
    return valueOf(blocks, key);
  }
  /// Gives keys to all blocks with arguments in `root`: a fork that lists them
  /// keeps none.
  void keep(Operation *root);
  /// Called when a block leaves its region, perhaps to be deleted.
  void removed(Block *block) {
    Lock lock(*this);
    if (LLVM_UNLIKELY(!keys.empty()))
      forget(block);
    if (!numbers.empty())
      numbers.erase(block);
  }

  /// Several threads make blocks from now on.
  void share() { isShared = true; }
  /// Starts anew for a recording: numbers blocks only if it holds IR.
  void record(bool isNumbering);
  /// Forks while no other thread changes the tables; returns what `fork` does.
  pid_t inFork(function_ref<pid_t()> fork);

private:
  /// Locks the tables if threads share them.
  struct Lock {
    explicit Lock(BlockKeys &keys)
        : mutex(LLVM_UNLIKELY(keys.isShared) ? &keys.mutex : nullptr) {
      if (mutex)
        mutex->lock();
    }
    ~Lock() {
      if (mutex)
        mutex->unlock();
    }
    Lock(const Lock &) = delete;
    std::recursive_mutex *mutex;
  };
  void forget(Block *block);

  std::atomic<bool> isShared{false};
  bool isNumbering = true;
  std::recursive_mutex mutex;
  std::unordered_map<Block *, uint32_t> numbers;
  uint32_t last = 0;
  /// Of blocks whose arguments were shown.
  std::unordered_map<Block *, std::string> keys;
  TextMap<Block *> blocks;
};

/// Returns the index of a block in its region.
int64_t positionOf(Block *block);

/// Returns the name of a value in a print; the results of a group share one.
std::string nameIn(AsmState &state, Value value);

/// Identifies a value for its life: `12.0` is result 0 of operation @12,
/// `/7.2` argument 2 of a block, see BlockKeys.
std::string keyOf(OpResult result);
std::string keyOf(BlockArgument argument);

/// Finds the unit that defines the value with a key, at or below `root`; null
/// if there is none.
IRUnit findKey(Operation *root, StringRef key);

/// Whether there are at most `most` operations in `scope`.
bool isSmall(Operation *scope, int64_t most);

/// Writes the printer's names and the keys of the values in `scope`, one a
/// line; a line `@12` before those of an inner scope, and of the outer one
/// again, and after the first of them `.12.0 %x` for each value of the scope
/// that the input names; and `>12.0 %x` before one that has come from another
/// scope. The first line has the largest numbers of results and arguments in
/// the input. Leaves out what is in regions of operations for which
/// `printsRegions` returns false, and returns whether there are any.
/// `ofInput`: whether to write what the input names.
bool writeNames(Operation *scope, AsmState &state, raw_ostream &os,
                bool ofInput = true,
                function_ref<bool(Operation *)> printsRegions = nullptr);

/// The most operations whose values are listed with their names.
constexpr int64_t mostListed = 200000;

/// Writes the names and keys of the values that a print of `root` defines; if
/// these are not all of `numbered`, for which `state` was made, a line `=` and
/// all of its values; and if `root` is in `numbered`, a line `+` and the
/// operands in `root`. See `writeNames`.
void writePrintedNames(Operation *root, Operation *numbered, AsmState &state,
                       raw_ostream &os, bool ofInput = true);

} // namespace adbg
