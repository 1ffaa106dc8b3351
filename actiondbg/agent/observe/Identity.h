//===- Identity.h - Operation ids -------------------------------*- C++ -*-===//
//
// The id of an operation is the number of its creation, from 1: the same in
// every run of the same command. Its address may be reused later.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

/// The live operations of all threads. A table by address: no two operations
/// begin within the same 64 bytes. Neighbours in memory are neighbours in the
/// table, so that it pollutes the cache little; it takes a twelfth of the
/// memory that holds operations, and none elsewhere. No thread waits for
/// another: an operation belongs to one thread at a time, and a missing table
/// is added by the first thread that needs it.
class Identities {
public:
  /// Disables find(), which costs the tool some cache.
  static void disableFind() { finds = false; }

  /// Assigns an id to a new operation and returns it; a second call has no
  /// effect.
  uint32_t created(Operation *op) { return number(op) >> bits; }

  struct Known {
    uint32_t id = 0;
    /// Whether the operation was in a block; whether it was described.
    bool wasPlaced = false, wasDescribed = false;
  };
  /// Marks `op` as placed in a block and returns its previous state. An
  /// operation whose creation was not observed gets its id now.
  Known place(Operation *op) { return note(op, placedBit); }
  /// Marks `op` as described in the recording and returns its previous state.
  Known describe(Operation *op) { return note(op, describedBit); }
  /// Returns the id of a described operation; 0 for any other.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t ofDescribed(Operation *op) const {
    uint32_t entry = entryOf(op);
    return entry & describedBit ? entry >> bits : 0;
  }
  /// Marks the description of `op` as outdated.
  void forget(Operation *op) { entryOf(op) &= ~describedBit; }

  /// Removes an operation that is being destroyed and returns its state.
  Known destroyed(Operation *op) {
    return knownOf(std::exchange(entryOf(op), 0));
  }

  /// Returns the id of an operation; 0 if it has none.
  uint32_t of(Operation *op) const { return entryOf(op) >> bits; }

  /// Loads the id of an operation into the cache, some time before it is read.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void prefetch(const Operation *op) const {
    if (isCached(op))
      __builtin_prefetch(&local.table->numbers[slotOf(op)]);
  }

  /// Returns the live operation with an id, or null. Searches all tables.
  Operation *find(uint32_t id) const;
  /// The id of the next operation of this thread.
  uint32_t upcoming() {
    if (LLVM_UNLIKELY(local.next == local.end))
      reserveIds();
    return local.next;
  }
  /// Makes the next operations of this thread get ids above all assigned ones.
  void renew() { local.next = local.end = 0; }
  size_t bytes() const;
  /// Forgets all operations: their ids begin with 1 again. The caller's thread
  /// and each other one has to call `renew`.
  void clear();

private:
  static constexpr uint32_t placedBit = 1, describedBit = 2, bits = 2;

  // The bits of an address: offset within 64 bytes, slot in a table of 32 MiB,
  // table within 256 GiB, and the rest of the address space: 48 bits on
  // aarch64.
  static constexpr unsigned slotBit = 6, tableBit = 25, regionBit = 38,
                            lastBit = 48;
  static constexpr uintptr_t slots = uintptr_t(1) << (tableBit - slotBit);
  /// The operations in one such stretch of memory: the id of each, with flags
  /// in the lowest bits, and its offset within its 64 bytes. The kernel maps a
  /// page at its first write.
  struct alignas(slots * sizeof(uint32_t)) Table {
    uint32_t numbers[slots];
    uint8_t offsets[slots];
    std::atomic<uint32_t> reservations;
    /// Notes that a thread that uses the table has reserved ids. The numbers of
    /// many operations are moved to one large page: the processor would spend
    /// more time to look up addresses of small ones than to read them.
    void reserved();
  };
  template <typename Inner, unsigned first, unsigned last> struct Level {
    static constexpr uintptr_t size = uintptr_t(1) << (last - first);
    std::atomic<Inner *> entries[size];
    /// Returns the entry for a table's key, or null.
    Inner *get(uintptr_t key) const {
      return entries[indexOf(key)].load(std::memory_order_acquire);
    }
    /// Returns the entry for a table's key; creates it if it is missing.
    Inner *need(uintptr_t key);
    static uintptr_t indexOf(uintptr_t key) {
      return (key >> (first - tableBit)) & (size - 1);
    }
  };
  using Region = Level<Table, tableBit, regionBit>;
  /// The state of one thread.
  struct ThreadState {
    /// The table used last and its key; the key matches no address while there
    /// is no table.
    uintptr_t key = ~uintptr_t(0);
    Table *table = nullptr;
    /// The range of ids that the thread may assign.
    uint32_t next = 0, end = 0;
    /// The entry of any operation without a table.
    uint32_t none = 0;
  };

  static uintptr_t addressOf(const Operation *op) {
    return reinterpret_cast<uintptr_t>(op);
  }
  static unsigned slotOf(const Operation *op) {
    return (addressOf(op) >> slotBit) & (slots - 1);
  }
  static Known knownOf(uint32_t entry) {
    return {entry >> bits, (entry & placedBit) != 0,
            (entry & describedBit) != 0};
  }
  static bool isCached(const Operation *op) {
    return LLVM_LIKELY(addressOf(op) >> tableBit == local.key);
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t &entryOf(const Operation *op) const {
    return isCached(op) ? local.table->numbers[slotOf(op)] : findEntry(op);
  }
  uint32_t &findEntry(const Operation *op) const;
  /// Returns the entry of an operation; assigns an id if it has none.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t &number(Operation *op) {
    if (LLVM_UNLIKELY(!isCached(op) || local.next == local.end))
      prepare(op);
    uint32_t &entry = local.table->numbers[slotOf(op)];
    if (!entry) {
      entry = local.next++ << bits;
      if (finds)
        local.table->offsets[slotOf(op)] = addressOf(op) & 63;
    }
    return entry;
  }
  /// Fetches the table of an operation and a free id.
  void prepare(Operation *op);
  Known note(Operation *op, uint32_t bit) {
    uint32_t &entry = number(op);
    Known known = knownOf(entry);
    // The bit is usually set already: avoid dirtying the cache line.
    if (!(entry & bit))
      entry |= bit;
    return known;
  }
  /// Calls `see` with each table and its first address.
  template <typename See> void forEachTable(See see) const;
  void reserveIds();

  static bool finds;
  // See Engine::local.
  static __thread ThreadState local;

  Level<Region, regionBit, lastBit> root{};
  std::atomic<uint32_t> given{1};
};

/// Never destroyed: the tool may end operations in static destructors.
extern Identities ids;
static_assert(std::is_trivially_destructible_v<Identities>);

/// An operation that may have been destroyed since.
class OperationHandle {
public:
  OperationHandle() = default;
  explicit OperationHandle(Operation *op) : op(op), id(op ? ids.of(op) : 0) {}
  /// Returns the operation, or null if it was destroyed.
  Operation *get() const { return id && ids.of(op) == id ? op : nullptr; }

  /// Its id, also after its end; 0 for none.
  uint32_t knownId() const { return id; }

private:
  Operation *op = nullptr;
  uint32_t id = 0;
};

} // namespace adbg
