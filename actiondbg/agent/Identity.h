//===- Identity.h - The identity of an operation for its life ---*- C++ -*-===//
//
// An operation is known by the number of its creation, from 1: the same in
// every run of the same command. Its address may have another owner later.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_IDENTITY_H
#define ACTIONDBG_IDENTITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace adbg {

/// The operations that are alive. A table by address, in pages as those of the
/// processor: no two operations begin in the same 64 bytes. Neighbours in
/// memory are neighbours here, so that the table costs the tool little cache;
/// it has some 20 bytes for an operation, and nothing where there are none.
class Identities {
public:
  /// Gives a new operation its number; a second call for it changes nothing.
  void created(mlir::Operation *op) { number(op); }

  struct Known {
    uint32_t id = 0;
    bool wasPlaced = false;
  };
  /// Notes that `op` was put into a block, and returns what it was before. An
  /// operation that was made out of sight gets its number now.
  Known place(mlir::Operation *op) {
    uint32_t &entry = number(op);
    Known known{entry >> 1, (entry & 1) != 0};
    entry |= 1;
    return known;
  }

  /// Forgets an operation that ends, and returns what it was.
  Known destroyed(mlir::Operation *op) {
    Page *page = pageOf(op);
    if (!page)
      return {};
    uint32_t entry = std::exchange(page->numbers[slotOf(op)], 0);
    if (entry && --page->alive == 0)
      drop(op);
    return {entry >> 1, (entry & 1) != 0};
  }

  /// Returns the number of an operation; 0 if it is not known.
  uint32_t of(mlir::Operation *op) const {
    const Page *page = pageOf(op);
    return page ? page->numbers[slotOf(op)] >> 1 : 0;
  }

  /// Returns the operation of a number that is alive, or null. Looks at all.
  mlir::Operation *find(uint32_t id) const;
  /// The number that the next operation gets.
  uint32_t upcoming() const { return next; }
  size_t bytes() const;

private:
  /// The operations in 4 KiB of memory: the number of each, and in the lowest
  /// bit whether it was in a block; and where in its 64 bytes it begins.
  struct Page {
    uint32_t alive = 0;
    uint32_t numbers[64] = {};
    uint8_t offsets[64] = {};
  };
  /// The pages in 2 MiB of memory.
  struct Table {
    Page *pages[512] = {};
  };

  static uintptr_t addressOf(const mlir::Operation *op) {
    return reinterpret_cast<uintptr_t>(op);
  }
  static unsigned slotOf(const mlir::Operation *op) {
    return (addressOf(op) >> 6) & 63;
  }
  Table *tableOf(const mlir::Operation *op) const {
    uintptr_t key = addressOf(op) >> 21;
    if (key != newestKey) {
      auto it = tables.find(key);
      if (it == tables.end())
        return nullptr;
      newestKey = key;
      newest = it->second;
    }
    return newest;
  }
  Page *pageOf(const mlir::Operation *op) const {
    Table *table = tableOf(op);
    return table ? table->pages[(addressOf(op) >> 12) & 511] : nullptr;
  }
  uint32_t &number(mlir::Operation *op) {
    Page *page = pageOf(op);
    if (LLVM_UNLIKELY(!page))
      page = addPage(op);
    uint32_t &entry = page->numbers[slotOf(op)];
    if (!entry) {
      entry = next++ << 1;
      page->offsets[slotOf(op)] = addressOf(op) & 63;
      ++page->alive;
    }
    return entry;
  }
  Page *addPage(mlir::Operation *op);
  void drop(mlir::Operation *op);

  llvm::DenseMap<uintptr_t, Table *> tables;
  mutable uintptr_t newestKey = 0;
  mutable Table *newest = nullptr;
  /// Pages without operations, to be used again.
  std::vector<Page *> spare;
  size_t pages = 0;
  uint32_t next = 1;
};

} // namespace adbg

#endif // ACTIONDBG_IDENTITY_H
