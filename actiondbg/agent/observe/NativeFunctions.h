//===- NativeFunctions.h - The functions of actions -------------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"

namespace adbg {

/// Returns the addresses of the functions that an action calls: matchAndRewrite
/// of a pattern, runOnOperation of a pass, the hook of a fold. Empty if they
/// are unknown. Several for a pattern where it is unknown which one is its own.
std::vector<const void *> functionsOf(const Frame &frame);

} // namespace adbg
