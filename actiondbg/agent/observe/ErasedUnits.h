//===- ErasedUnits.h - IR units erased during their action ------*- C++ -*-===//

#pragma once

#include "observe/Observer.h"

namespace adbg {

/// Records which IR units of the running actions are erased, and by what they
/// are replaced: erased units must not be read.
class ErasedUnits {
public:
  explicit ErasedUnits(Observer &observer) : observer(observer) {}

  /// Follows the units of passes only: without stops no others are needed, and
  /// these have regions.
  void followPassesOnly() { passesOnly = true; }

  void erased(Operation *op) {
    if (mayBeUnit(op))
      noteErased(op);
  }
  void replaced(Operation *op, ValueRange by) {
    if (mayBeUnit(op))
      noteReplaced(op, by);
  }

private:
  bool mayBeUnit(Operation *op) const {
    return !passesOnly || op->getNumRegions() != 0;
  }
  bool isFollowed(const Frame &frame) const {
    return !passesOnly || frame.kind == Kind::Pass;
  }
  void noteErased(Operation *op);
  void noteReplaced(Operation *op, ValueRange by);
  ErasedUnit describe(size_t unit, Operation *op) const;

  Observer &observer;
  bool passesOnly = false;
};

} // namespace adbg
