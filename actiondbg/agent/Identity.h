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

namespace adbg {

/// The operations that are alive. It is cut in shards, so that only one of them
/// is held twice at a time when the table grows: at most 43 bytes an operation.
class Identities {
public:
  /// Gives a new operation its number; a second call for it changes nothing.
  void created(mlir::Operation *op) {
    if (op != newest)
      look(op);
  }

  struct Known {
    uint32_t id;
    bool wasPlaced;
  };
  /// Notes that `op` was put into a block, and returns what it was before. An
  /// operation that was made out of sight gets its number now.
  Known place(mlir::Operation *op) {
    if (op != newest)
      look(op);
    Known known{*newestNumber >> 1, (*newestNumber & 1) != 0};
    *newestNumber |= 1;
    return known;
  }

  /// Forgets an operation that ends, and returns what it was.
  Known destroyed(mlir::Operation *op) {
    newest = nullptr;
    Shard &shard = shardOf(op);
    auto it = shard.find(op);
    if (it == shard.end())
      return {0, false};
    Known known{it->second >> 1, (it->second & 1) != 0};
    shard.erase(it);
    return known;
  }

  /// Returns the number of an operation; 0 if it is not known.
  uint32_t of(mlir::Operation *op) const {
    const Shard &shard = shards[indexOf(op)];
    auto it = shard.find(op);
    return it == shard.end() ? 0 : it->second >> 1;
  }

  /// Returns the operation of a number that is alive, or null. Looks at all.
  mlir::Operation *find(uint32_t id) const;
  /// The number that the next operation gets.
  uint32_t upcoming() const { return next; }
  size_t bytes() const;

private:
  // The number, and in the lowest bit whether it was in a block.
  using Shard = llvm::DenseMap<mlir::Operation *, uint32_t>;
  static constexpr unsigned shardCount = 64;
  static unsigned indexOf(mlir::Operation *op) {
    return (reinterpret_cast<uintptr_t>(op) * 0x9E3779B97F4A7C15ull) >> 58;
  }
  Shard &shardOf(mlir::Operation *op) { return shards[indexOf(op)]; }

  void look(mlir::Operation *op) {
    auto [it, isNew] = shardOf(op).try_emplace(op, next << 1);
    next += isNew;
    newest = op;
    newestNumber = &it->second;
  }

  Shard shards[shardCount];
  /// The operation that was looked at last, as most are asked for again at
  /// once. The number is where the table has it, until the table changes.
  mlir::Operation *newest = nullptr;
  uint32_t *newestNumber = nullptr;
  uint32_t next = 1;
};

} // namespace adbg

#endif // ACTIONDBG_IDENTITY_H
