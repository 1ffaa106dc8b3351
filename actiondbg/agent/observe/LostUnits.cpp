//===- LostUnits.cpp - IR units erased during their action ----------------===//

#include "observe/LostUnits.h"

using namespace mlir;

namespace adbg {

Gone LostUnits::describe(size_t unit, Operation *op) const {
  return Gone{unit, observer.ids.of(op), op->getName(), op->getLoc(),
              // The function is needed at stops only.
              passesOnly ? StringAttr() : symbolAround(op), nullptr};
}

void LostUnits::lose(Operation *op) {
  for (Frame *frame = observer.innermost; frame; frame = frame->parent) {
    if (!mayLose(*frame))
      continue;
    if (!frame->rare().gone.empty())
      for (Gone &gone : frame->needRare().gone)
        if (gone.by == op)
          gone.by = nullptr;
    for (size_t i = 0; i < frame->units.size(); ++i)
      if (!frame->goneUnit(i) && holderOf(frame->units[i]) == op)
        frame->needRare().gone.push_back(describe(i, op));
  }
}

void LostUnits::replace(Operation *op, ValueRange by) {
  Operation *holder = nullptr;
  for (Value value : by)
    if (value && !holder)
      holder = holderOf(IRUnit(value));
  for (Frame *frame = observer.innermost; holder && frame;
       frame = frame->parent) {
    if (!mayLose(*frame))
      continue;
    for (size_t i = 0; i < frame->units.size(); ++i) {
      if (frame->opOfUnit(i) != op)
        continue;
      const Gone *before = frame->goneUnit(i);
      Gone gone = before ? *before : describe(i, op);
      gone.by = holder;
      llvm::SmallVector<Gone, 0> &all = frame->needRare().gone;
      llvm::erase_if(all, [&](Gone &old) { return old.unit == i; });
      all.push_back(gone);
    }
  }
}

} // namespace adbg
