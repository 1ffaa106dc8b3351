//===- ActionVerifier.h - Verifying IR after each action --------*- C++ -*-===//

#ifndef ACTIONDBG_ACTIONVERIFIER_H
#define ACTIONDBG_ACTIONVERIFIER_H

#include "engine/Frame.h"

namespace adbg {

/// Verifies the IR after each action, where it has to be valid.
class ActionVerifier {
public:
  bool isOn = false;

  /// Verifies the IR around an action: before it, what its parent did until
  /// now. Returns why the IR is invalid, if it was valid the time before; empty
  /// otherwise.
  std::string check(const Frame &frame);

private:
  bool isBroken = false;
};

} // namespace adbg

#endif // ACTIONDBG_ACTIONVERIFIER_H
