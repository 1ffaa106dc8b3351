//===- Identity.h - The identity of an operation for its life ---*- C++ -*-===//
//
// An operation is known by the number of its creation, from 1: the same in
// every run of the same command. Its address may have another owner later.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_IDENTITY_H
#define ACTIONDBG_IDENTITY_H

#include "mlir/IR/Operation.h"
#include <atomic>

namespace adbg {

/// The operations that are alive, of all threads. A table by address: no two
/// operations begin in the same 64 bytes. Neighbours in memory are neighbours
/// here, so that the table costs the tool little cache; it takes a twelfth of
/// the memory that operations are in, and nothing where there are none. No
/// thread waits for another: an operation is one thread's at a time, and a
/// table that is missing is added by whoever is first.
class Identities {
public:
  static Identities &all();
  /// Nobody will ask for the operation of a number: to be able to tell costs
  /// the tool some cache.
  static void neverFind() { finds = false; }

  /// Gives a new operation its number, and returns it; a second call for it
  /// changes nothing.
  uint32_t created(mlir::Operation *op) { return number(op) >> bits; }

  struct Known {
    uint32_t id = 0;
    /// Whether it was in a block; whether it was described.
    bool wasPlaced = false, wasDescribed = false;
  };
  /// Notes that `op` was put into a block, and returns what it was before. An
  /// operation that was made out of sight gets its number now.
  Known place(mlir::Operation *op) { return note(op, placedBit); }
  /// Notes that what `op` is was written down, and returns what it was before.
  Known describe(mlir::Operation *op) { return note(op, describedBit); }
  /// Returns the number of an operation that was written down; 0 of another.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t ofDescribed(mlir::Operation *op) const {
    uint32_t entry = entryOf(op);
    return entry & describedBit ? entry >> bits : 0;
  }
  /// What was written down of `op` holds no more.
  void forget(mlir::Operation *op) { entryOf(op) &= ~describedBit; }

  /// Forgets an operation that ends, and returns what it was.
  Known destroyed(mlir::Operation *op) {
    return knownOf(std::exchange(entryOf(op), 0));
  }

  /// Returns the number of an operation; 0 if it is not known.
  uint32_t of(mlir::Operation *op) const { return entryOf(op) >> bits; }

  /// Returns the operation of a number that is alive, or null. Looks at all.
  mlir::Operation *find(uint32_t id) const;
  /// The number that the next operation of this thread gets.
  uint32_t upcoming() {
    if (LLVM_UNLIKELY(mine.next == mine.end))
      takeMore();
    return mine.next;
  }
  /// Has this thread's next operations get numbers above all that were given.
  void renew() { mine.next = mine.end = 0; }
  size_t bytes() const;

private:
  static constexpr uint32_t placedBit = 1, describedBit = 2, bits = 2;

  // Of an address: its place in 64 bytes, the slot in a table of 32 MiB, the
  // table in 256 GiB, and the rest of what a process may have.
  static constexpr unsigned slotBit = 6, tableBit = 25, regionBit = 38,
                            lastBit = 47;
  static constexpr uintptr_t slots = uintptr_t(1) << (tableBit - slotBit);
  /// The operations in so much memory: the number of each, and in the lowest
  /// bits what is noted of it; and where in its 64 bytes it begins. The system
  /// gives the memory when it is written to first.
  struct Table {
    uint32_t numbers[slots];
    uint8_t offsets[slots];
  };
  template <typename Inner, unsigned first, unsigned last> struct Level {
    static constexpr uintptr_t size = uintptr_t(1) << (last - first);
    std::atomic<Inner *> entries[size];
    /// Returns the entry for a table's key, or null.
    Inner *get(uintptr_t key) const {
      return entries[indexOf(key)].load(std::memory_order_acquire);
    }
    /// The same, which is made if it is missing.
    Inner *need(uintptr_t key);
    static uintptr_t indexOf(uintptr_t key) {
      return (key >> (first - tableBit)) & (size - 1);
    }
  };
  using Region = Level<Table, tableBit, regionBit>;
  /// What a thread has at hand.
  struct Mine {
    /// The table that it asked for last, and of which memory it is: of none as
    /// long as there is no table.
    uintptr_t key = ~uintptr_t(0);
    Table *table = nullptr;
    /// The numbers that it may give.
    uint32_t next = 0, end = 0;
    /// Stands for the entry of an operation that has no table.
    uint32_t none = 0;
  };

  static uintptr_t addressOf(const mlir::Operation *op) {
    return reinterpret_cast<uintptr_t>(op);
  }
  static unsigned slotOf(const mlir::Operation *op) {
    return (addressOf(op) >> slotBit) & (slots - 1);
  }
  static Known knownOf(uint32_t entry) {
    return {entry >> bits, (entry & placedBit) != 0,
            (entry & describedBit) != 0};
  }
  static bool isAtHand(const mlir::Operation *op) {
    return LLVM_LIKELY(addressOf(op) >> tableBit == mine.key);
  }
  /// What is known of an operation; 0 if nothing is.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t &
  entryOf(const mlir::Operation *op) const {
    return isAtHand(op) ? mine.table->numbers[slotOf(op)] : findEntry(op);
  }
  uint32_t &findEntry(const mlir::Operation *op) const;
  /// The same, which gets a number if it has none.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t &number(mlir::Operation *op) {
    if (LLVM_UNLIKELY(!isAtHand(op) || mine.next == mine.end))
      prepare(op);
    uint32_t &entry = mine.table->numbers[slotOf(op)];
    if (!entry) {
      entry = mine.next++ << bits;
      if (finds)
        mine.table->offsets[slotOf(op)] = addressOf(op) & 63;
    }
    return entry;
  }
  /// Has the table of an operation, and a number, at hand.
  void prepare(mlir::Operation *op);
  Known note(mlir::Operation *op, uint32_t bit) {
    uint32_t &entry = number(op);
    Known known = knownOf(entry);
    // Mostly it is noted already: then the memory is left as it is.
    if (!(entry & bit))
      entry |= bit;
    return known;
  }
  /// `see` gets each table, and the address that it begins with.
  template <typename See> void forEachTable(See see) const;
  void takeMore();

  static bool finds;
  // See Engine::here.
  static __thread Mine mine;

  Level<Region, regionBit, lastBit> root{};
  std::atomic<uint32_t> given{1};
};

} // namespace adbg

#endif // ACTIONDBG_IDENTITY_H
