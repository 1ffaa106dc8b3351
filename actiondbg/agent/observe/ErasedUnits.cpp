//===- ErasedUnits.cpp - IR units erased during their action --------------===//

#include "observe/ErasedUnits.h"

namespace adbg {

ErasedUnit ErasedUnits::describe(size_t unit, Operation *op) const {
  return ErasedUnit{unit, ids.of(op), op->getName(), op->getLoc(),
                    // The function is needed at stops only.
                    passesOnly ? StringAttr() : symbolAround(op), nullptr};
}

void ErasedUnits::noteErased(Operation *op) {
  for (Frame *frame = observer.innermost; frame; frame = frame->parent) {
    if (!isFollowed(*frame))
      continue;
    if (!frame->rare().erased.empty())
      for (ErasedUnit &erased : frame->needRare().erased)
        if (erased.by == op)
          erased.by = nullptr;
    for (size_t i = 0; i < frame->units.size(); ++i)
      if (!frame->erasedUnit(i) && holderOf(frame->units[i]) == op)
        frame->needRare().erased.push_back(describe(i, op));
  }
}

void ErasedUnits::noteReplaced(Operation *op, ValueRange by) {
  Operation *holder = nullptr;
  for (Value value : by.values())
    if (value && !holder)
      holder = holderOf(IRUnit(value));
  for (Frame *frame = observer.innermost; holder && frame;
       frame = frame->parent) {
    if (!isFollowed(*frame))
      continue;
    for (size_t i = 0; i < frame->units.size(); ++i) {
      if (frame->opOfUnit(i) != op)
        continue;
      const ErasedUnit *before = frame->erasedUnit(i);
      ErasedUnit erased = before ? *before : describe(i, op);
      erased.by = holder;
      std::vector<ErasedUnit> &all = frame->needRare().erased;
      std::erase_if(all, [&](ErasedUnit &old) { return old.unit == i; });
      all.push_back(erased);
    }
  }
}

} // namespace adbg
