//===- ActionVerifier.h - Verifying IR after each action --------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"

namespace adbg {

/// Verifies the IR after each action, where it must be valid.
class ActionVerifier {
public:
  bool isOn = false;

  /// Verifies the IR around an action; before an action, this covers the
  /// preceding work of its parent. Returns why the IR is invalid if it was
  /// valid at the previous check, otherwise an empty string.
  std::string check(const Frame &frame);
  /// The operation that the last check found invalid; null if it is unknown.
  Operation *invalid() const { return found.get(); }

  /// Returns why an operation is invalid; empty if it is valid.
  std::string whyInvalid(Operation *op);

private:
  OperationHandle found;
  bool isBroken = false;
};

} // namespace adbg
