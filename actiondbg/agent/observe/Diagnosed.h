//===- Diagnosed.h - The operations that diagnostics are about --*- C++ -*-===//

#pragma once

#include "observe/Identity.h"

namespace adbg {

/// An operation that may have been destroyed since.
class OperationHandle {
public:
  OperationHandle() = default;
  explicit OperationHandle(Operation *op) : op(op), id(op ? ids.of(op) : 0) {}
  /// Returns the operation, or null if it was destroyed.
  Operation *get() const { return id && ids.of(op) == id ? op : nullptr; }

private:
  Operation *op = nullptr;
  uint32_t id = 0;
};

/// Finds the operation that a diagnostic is about, of which MLIR keeps the
/// location only.
class Diagnosed {
public:
  /// Called when an operation has made a diagnostic that is not reported yet.
  void made(Operation *op) { last = OperationHandle(op); }
  /// Returns the operation that made the diagnostic at a location; otherwise
  /// the only operation at or below `root` with that location, or null.
  Operation *at(Location location, Operation *root) const;

  /// Returns the innermost operation at or below `root` of which the verifier
  /// says `error`, or null. Asked in a fork: the IR is invalid.
  static Operation *refused(Operation *root, StringRef error);

private:
  OperationHandle last;
};

} // namespace adbg
