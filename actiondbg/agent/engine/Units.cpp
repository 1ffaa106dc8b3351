//===- Units.cpp - The IR units of the actions on the stack
//-----------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"

using namespace mlir;

namespace adbg {

Frame *Engine::frameAt(int64_t index) const {
  Frame *frame = innermost;
  while (frame && index-- > 0)
    frame = frame->parent;
  return frame;
}

void Engine::resetCursor() {
  cursor = IRUnit();
  for (const Frame *frame = selected; frame; frame = frame->parent) {
    if (frame->units.empty())
      continue;
    const Gone *gone = frame->goneUnit(0);
    if (gone && !gone->by)
      continue;
    cursor = gone ? IRUnit(gone->by) : frame->units[0];
    return;
  }
}

static Gone describeGone(size_t unit, Operation *op) {
  const Engine &engine = Engine::get();
  return Gone{unit, engine.observer.ids.of(op), op->getName(), op->getLoc(),
              // Only who stops can ask where it was.
              engine.isObserving ? StringAttr() : symbolAround(op), nullptr};
}

void Engine::loseUnit(Operation *op) {
  for (Frame *frame = innermost; frame; frame = frame->parent) {
    if (!mayLoseUnits(*frame))
      continue;
    if (!frame->rare().gone.empty())
      for (Gone &gone : frame->needRare().gone)
        if (gone.by == op)
          gone.by = nullptr;
    for (size_t i = 0; i < frame->units.size(); ++i)
      if (!frame->goneUnit(i) && holderOf(frame->units[i]) == op)
        frame->needRare().gone.push_back(describeGone(i, op));
  }
}

void Engine::replaced(Operation *op, ValueRange by, bool isGuess) {
  Operation *holder = nullptr;
  if (mayBeUnit(op))
    for (Value value : by)
      if (value && !holder)
        holder = holderOf(IRUnit(value));
  for (Frame *frame = innermost; holder && frame; frame = frame->parent) {
    if (!mayLoseUnits(*frame))
      continue;
    for (size_t i = 0; i < frame->units.size(); ++i) {
      if (frame->opOfUnit(i) != op)
        continue;
      const Gone *before = frame->goneUnit(i);
      Gone gone = before ? *before : describeGone(i, op);
      gone.by = holder;
      llvm::SmallVector<Gone, 0> &all = frame->needRare().gone;
      llvm::erase_if(all, [&](Gone &old) { return old.unit == i; });
      all.push_back(std::move(gone));
    }
  }
  observer.replaced(op, by, isGuess);
}

} // namespace adbg
