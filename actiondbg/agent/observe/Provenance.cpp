#include "observe/Provenance.h"
#include "record/Recorder.h"

namespace adbg {

static const void *nameOf(Operation *op) {
  return op->getName().getAsOpaquePointer();
}

void Provenance::placed(Operation *op, uint64_t ordinal, uint32_t first,
                        Recorder &recorder) {
  latest = op;
  ordinalOfLatest = ordinal;
  firstOfLatest = first;
  if (bodies.empty())
    return;
  for (Region &region : op->getRegions()) {
    auto body = region.empty() ? bodies.end() : bodies.find(&region.front());
    if (body == bodies.end())
      continue;
    if (body->second.name == nameOf(op))
      recorder.link(LinkKind::Body, ordinal, ids.of(op), body->second.id);
    bodies.erase(body);
  }
}

void Provenance::tookBody(Block *block, Operation *from, uint64_t ordinal,
                          uint32_t first, Recorder &recorder) {
  Operation *to = block->getParentOp();
  if (!to)
    bodies[block] = {ids.of(from), nameOf(from)};
  else if (to != from && ids.of(to) >= first && nameOf(to) == nameOf(from))
    recorder.link(LinkKind::Body, ordinal, ids.of(to), ids.of(from));
}

/// Returns the next old operation behind the latest new one; if all operations
/// behind it are new, the next old one behind the new operation around it.
/// Bounded: a new block may be long.
Operation *Provenance::placeOfLatest() const {
  unsigned left = 256;
  for (Operation *op = latest; op && op->getBlock() && left--;) {
    Operation *next = op->getNextNode();
    while (next && ids.of(next) >= firstOfLatest && left--)
      next = next->getNextNode();
    if (next)
      return ids.of(next) < firstOfLatest ? next : nullptr;
    op = op->getParentOp();
    if (!op || ids.of(op) < firstOfLatest)
      return nullptr;
  }
  return nullptr;
}

void Provenance::settleLatest(Recorder &recorder) {
  Operation *op = placeOfLatest();
  if (uint32_t place = op ? ids.of(op) : 0)
    // A builder of a body ran before the operation around it was placed.
    latest->walk([&](Operation *one) {
      if (uint32_t id = ids.of(one); id >= firstOfLatest)
        recorder.link(LinkKind::Before, ordinalOfLatest, id, place);
    });
  latest = nullptr;
}

//===----------------------------------------------------------------------===//
// Operands that a pass replaces
//===----------------------------------------------------------------------===//

void OperandSnapshot::add(Operation *op) {
  unsigned count = op->getNumOperands();
  if (!count || !ids.of(op))
    return;
  users.push_back({OperationHandle(op), count, definers.size()});
  for (Value value : op->getOperands()) {
    definers.push_back(
        OperationHandle(value ? value.getDefiningOp() : nullptr));
  }
}

void OperandSnapshot::addAround(Operation *op) {
  Operation *root = scopeOf(op->getParentOp());
  if (!root || !isIsolated(root) || !roots.insert(root).second)
    return;
  std::vector<Operation *> around{root};
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
    Operation *user = one.op.get();
    if (!user || user->getNumOperands() != one.count)
      continue;
    const OperationHandle *before = &definers[one.first];
    for (Value value : user->getOperands()) {
      Operation *definer = value ? value.getDefiningOp() : nullptr;
      const OperationHandle &old = *before++;
      if (!definer || !old.knownId() || old.get())
        continue;
      if (uint32_t id = ids.of(definer); id >= first)
        report(id, old.knownId());
    }
  }
}

} // namespace adbg
