//===- PassRegistry.h - The passes of a tool --------------------*- C++ -*-===//

#pragma once

#include "mlir/Pass/PassManager.h"

namespace mlir {

ADBG_STAND_IN inline LogicalResult
parsePassPipeline(StringRef text, PassManager &manager, raw_ostream &os) {
  return adbg::tool::parsePipeline(text, manager.asTool(), os);
}

ADBG_STAND_IN inline void printRegisteredPasses() {
  if (adbg::tool::printPasses)
    adbg::tool::printPasses();
}

} // namespace mlir
