//===- OperandSnapshot.h - Operands that a pass replaces --------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

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
  struct Known {
    Operation *op;
    uint32_t id;
    bool isAlive() const;
  };
  struct User {
    Known user;
    /// The number of operands, and the place of the first in `definers`.
    unsigned count;
    size_t first;
  };

  void add(Operation *op);

  std::unordered_map<Operation *, bool> roots;
  std::vector<User> users;
  /// Without an operation for arguments of blocks.
  std::vector<Known> definers;
};

} // namespace adbg
