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

/// The operations that are alive, of all threads. A table by address, in pages
/// as those of the processor: no two operations begin in the same 64 bytes.
/// Neighbours in memory are neighbours here, so that the table costs the tool
/// little cache; it has some 20 bytes for an operation, and nothing where there
/// are none. No thread waits for another: an operation is one thread's at a
/// time, and a page that is missing is added by whoever is first.
class Identities {
public:
  static Identities &all();
  /// To be called before there are several threads: pages are kept then.
  static void share() { isShared = true; }

  /// Gives a new operation its number; a second call for it changes nothing.
  void created(mlir::Operation *op) { number(op); }

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
  /// What was written down of `op` holds no more.
  void forget(mlir::Operation *op) {
    if (Page *page = pageOf(op))
      page->numbers[slotOf(op)] &= ~describedBit;
  }

  /// Forgets an operation that ends, and returns what it was.
  Known destroyed(mlir::Operation *op) {
    Page *page = pageOf(op);
    if (!page)
      return {};
    uint32_t entry = std::exchange(page->numbers[slotOf(op)], 0);
    if (entry && !isShared && --page->alive == 0)
      drop(op);
    return knownOf(entry);
  }

  /// Returns the number of an operation; 0 if it is not known.
  uint32_t of(mlir::Operation *op) const {
    const Page *page = pageOf(op);
    return page ? page->numbers[slotOf(op)] >> bits : 0;
  }

  /// Returns the operation of a number that is alive, or null. Looks at all.
  mlir::Operation *find(uint32_t id) const;
  /// The number that the next operation of this thread gets.
  uint32_t upcoming() {
    if (LLVM_UNLIKELY(mine.next == mine.end))
      takeMore();
    return mine.next;
  }
  /// Has this thread's next operations get numbers above all that were given.
  void renew() { mine = {}; }
  size_t bytes() const;

private:
  static constexpr uint32_t placedBit = 1, describedBit = 2, bits = 2;

  /// The operations in 4 KiB of memory: the number of each, and in the lowest
  /// bits what is noted of it; and where in its 64 bytes it begins.
  struct Page {
    uint32_t alive = 0;
    uint32_t numbers[64] = {};
    uint8_t offsets[64] = {};
  };
  template <typename Inner, unsigned size> struct Level {
    std::atomic<Inner *> entries[size] = {};
    /// Returns the entry, which is made if it is missing.
    Inner *need(uintptr_t index);
  };
  /// The pages in 2 MiB of memory, and those in 16 GiB.
  using Table = Level<Page, 512>;
  using Region = Level<Table, 8192>;
  /// Numbers that a thread may give.
  struct Numbers {
    uint32_t next, end;
  };

  static uintptr_t addressOf(const mlir::Operation *op) {
    return reinterpret_cast<uintptr_t>(op);
  }
  static unsigned slotOf(const mlir::Operation *op) {
    return (addressOf(op) >> 6) & 63;
  }
  static Known knownOf(uint32_t entry) {
    return {entry >> bits, (entry & placedBit) != 0,
            (entry & describedBit) != 0};
  }
  Table *tableOf(const mlir::Operation *op) const {
    uintptr_t key = addressOf(op) >> 21;
    if (key != newestKey || !newest) {
      Region *region = root.entries[(key >> 13) & 8191];
      newest = region ? region->entries[key & 8191].load() : nullptr;
      newestKey = key;
    }
    return newest;
  }
  Page *pageOf(const mlir::Operation *op) const {
    Table *table = tableOf(op);
    return table ? table->entries[(addressOf(op) >> 12) & 511].load(
                       std::memory_order_acquire)
                 : nullptr;
  }
  uint32_t &number(mlir::Operation *op) {
    Page *page = pageOf(op);
    if (LLVM_UNLIKELY(!page))
      page = addPage(op);
    uint32_t &entry = page->numbers[slotOf(op)];
    if (!entry) {
      entry = upcoming() << bits;
      ++mine.next;
      page->offsets[slotOf(op)] = addressOf(op) & 63;
      if (!isShared)
        ++page->alive;
    }
    return entry;
  }
  Known note(mlir::Operation *op, uint32_t bit) {
    uint32_t &entry = number(op);
    Known known = knownOf(entry);
    // Mostly it is noted already: then the memory is left as it is.
    if (!(entry & bit))
      entry |= bit;
    return known;
  }
  Page *addPage(mlir::Operation *op);
  void drop(mlir::Operation *op);
  void takeMore();

  static bool isShared;
  static thread_local uintptr_t newestKey;
  static thread_local Table *newest;
  static thread_local Numbers mine;

  Level<Region, 8192> root;
  std::atomic<uint32_t> given{1};
};

} // namespace adbg

#endif // ACTIONDBG_IDENTITY_H
