//===- OperandSnapshot.cpp - Operands that a pass replaces ----------------===//

#include "observe/OperandSnapshot.h"
#include "observe/Identity.h"
#include "support/Traits.h"

namespace adbg {

bool OperandSnapshot::Known::isAlive() const {
  return ids.of(op) == id; // another one may have its address
}

void OperandSnapshot::add(Operation *op) {
  unsigned count = op->getNumOperands();
  uint32_t id = count ? ids.of(op) : 0;
  if (!id)
    return;
  users.push_back({{op, id}, count, definers.size()});
  for (Value value : op->getOperands()) {
    Operation *definer = value ? value.getDefiningOp() : nullptr;
    definers.push_back({definer, definer ? ids.of(definer) : 0});
  }
}

void OperandSnapshot::addAround(Operation *op) {
  Operation *root = scopeOf(op->getParentOp());
  if (!root || !isIsolated(root) || !roots.try_emplace(root, true).second)
    return;
  std::vector<Operation *> around = {root};
  while (!around.empty()) {
    Operation *parent = around.back();
    around.pop_back();
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          // The new one is not in the list yet.
          if (&inner != op) {
            add(&inner);
            if (inner.getNumRegions() && !isIsolated(&inner))
              around.push_back(&inner);
          }
  }
}

void OperandSnapshot::heirs(
    uint32_t first, function_ref<void(uint32_t, uint32_t)> report) const {
  for (const User &one : users) {
    if (!one.user.isAlive() || one.user.op->getNumOperands() != one.count)
      continue;
    const Known *before = &definers[one.first];
    for (Value value : one.user.op->getOperands()) {
      Operation *definer = value ? value.getDefiningOp() : nullptr;
      const Known &old = *before++;
      if (!definer || !old.id || old.isAlive())
        continue;
      if (uint32_t id = ids.of(definer); id >= first)
        report(id, old.id);
    }
  }
}

} // namespace adbg
