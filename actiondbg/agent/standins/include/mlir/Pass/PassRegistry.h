//===- PassRegistry.h - The passes of a tool --------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_PASSREGISTRY_H
#define ACTIONDBG_MLIR_PASSREGISTRY_H

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

#endif // ACTIONDBG_MLIR_PASSREGISTRY_H
