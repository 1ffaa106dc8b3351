//===- Convergence.h - Greedy rewrites that do not converge -----*- C++ -*-===//

#pragma once

#include "engine/Frame.h"

namespace adbg {

/// Counts a finished action for the greedy driver around it. Returns a message
/// if the driver rewrites far more often than it has operations; otherwise an
/// empty string.
std::string checkConvergence(Frame &frame);

} // namespace adbg
