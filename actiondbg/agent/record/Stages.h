//===- Stages.h - The IR at the ends of a recorded run ----------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

class Recorder;

/// Records the IR before the first action and after the last one, operation by
/// operation, with their ids. Forks of the tool print it, so that the tool goes
/// on, and nothing of it changes.
class Stages {
public:
  /// Forgets what an earlier recording has of this process.
  static void begin();
  /// Called when an outermost action begins at `op`.
  static void reached(Operation *op, const Recorder &recorder);
  /// Called when a pipeline has run on `op`: usually the last one.
  static void settled(Operation *op, const Recorder &recorder);
  /// Called when an operation without a parent is about to be destroyed,
  /// outside of actions. Returns whether its IR is recorded.
  static bool ending(Operation *op, const Recorder &recorder);
  /// Records the IR as it is now; `op` has no parent.
  static void between(Operation *op, const Recorder &recorder);
  /// A pass failed: the IR need not be valid.
  static void failed();
  /// Waits until all stages are written: the tool exits, or crashes. Frees no
  /// memory.
  static void finish();
};

} // namespace adbg
