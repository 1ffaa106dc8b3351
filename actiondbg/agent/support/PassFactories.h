//===- PassFactories.h - Passes that the tool can make ----------*- C++ -*-===//

#pragma once

#include <string>
#include <vector>

namespace adbg {

/// Returns the arguments of the passes that the current MLIR has functions for,
/// such as `mlir::createCSEPass()`. Registers each of these passes that is not
/// registered: a compiler that builds its pipelines in code, as Triton does,
/// registers none.
const std::vector<std::string> &makeablePasses();

} // namespace adbg
