//===- OperandSnapshot.h - Operands that a pass replaces --------*- C++ -*-===//

#ifndef ACTIONDBG_OPERANDSNAPSHOT_H
#define ACTIONDBG_OPERANDSNAPSHOT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace adbg {

class Identities;

/// The operations that defined operands at one time. Giving the uses of a value
/// to another one notifies nobody: the operands show it afterwards.
class OperandSnapshot {
public:
  /// Adds those of the operations around `op` up to the next that is isolated
  /// from above, unless they are there. Other threads may work on what is
  /// isolated in there.
  void addAround(mlir::Operation *op, const Identities &ids);
  /// Calls `report` with the ids of an operation and of one that was erased, if
  /// the operation has the id `first` or a higher one, and is an operand now
  /// in the place of the erased one.
  void heirs(const Identities &ids, uint32_t first,
             llvm::function_ref<void(uint32_t, uint32_t)> report) const;

private:
  struct Known {
    mlir::Operation *op;
    uint32_t id;
    bool isAlive(const Identities &ids) const;
  };
  struct User {
    Known user;
    /// The number of operands, and the place of the first in `definers`.
    unsigned count;
    size_t first;
  };

  void add(mlir::Operation *op, const Identities &ids);

  llvm::DenseMap<mlir::Operation *, bool> roots;
  std::vector<User> users;
  /// Without an operation for arguments of blocks.
  std::vector<Known> definers;
};

} // namespace adbg

#endif // ACTIONDBG_OPERANDSNAPSHOT_H
