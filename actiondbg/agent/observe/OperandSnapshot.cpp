//===- OperandSnapshot.cpp - Operands that a pass replaces ----------------===//

#include "observe/OperandSnapshot.h"
#include "observe/Identity.h"

using namespace mlir;

namespace adbg {

bool OperandSnapshot::Known::isAlive(const Identities &ids) const {
  return ids.of(op) == id; // another one may have its address
}

OperandSnapshot OperandSnapshot::of(Operation *root, const Identities &ids) {
  OperandSnapshot snapshot;
  root->walk([&](Operation *op) {
    unsigned count = op->getNumOperands();
    uint32_t id = count ? ids.of(op) : 0;
    if (!id)
      return;
    snapshot.users.push_back({{op, id}, count, snapshot.definers.size()});
    for (Value value : op->getOperands()) {
      Operation *definer = value ? value.getDefiningOp() : nullptr;
      snapshot.definers.push_back({definer, definer ? ids.of(definer) : 0});
    }
  });
  return snapshot;
}

void OperandSnapshot::heirs(
    const Identities &ids, uint32_t first,
    llvm::function_ref<void(uint32_t, uint32_t)> report) const {
  for (const User &one : users) {
    if (!one.user.isAlive(ids) || one.user.op->getNumOperands() != one.count)
      continue;
    const Known *before = &definers[one.first];
    for (Value value : one.user.op->getOperands()) {
      Operation *definer = value ? value.getDefiningOp() : nullptr;
      const Known &old = *before++;
      if (!definer || !old.id || old.isAlive(ids))
        continue;
      if (uint32_t id = ids.of(definer); id >= first)
        report(id, old.id);
    }
  }
}

} // namespace adbg
