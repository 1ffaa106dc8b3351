//===- PassManager.h - Pass managers ----------------------------*- C++ -*-===//

#pragma once

#include "mlir/Pass/Pass.h"

namespace mlir {

class OpPassManager {
public:
  enum class Nesting { Implicit, Explicit };
};

class PassManager : public OpPassManager {
public:
  ADBG_STAND_IN PassManager(OperationName name, Nesting nesting) {
    adbg::tool::makeManager(memory, name.getAsOpaquePointer(), int(nesting));
  }
  ADBG_STAND_IN ~PassManager() { adbg::tool::endManager(memory); }
  PassManager(const PassManager &) = delete;

  ADBG_STAND_IN LogicalResult run(Operation *op) {
    return adbg::tool::runManager(memory, op);
  }
  void *asTool() { return memory; }

private:
  // Some hundred bytes.
  alignas(16) char memory[4096] = {};
};

ADBG_STAND_IN inline LogicalResult
parsePassPipeline(StringRef text, PassManager &manager, raw_ostream &os) {
  return adbg::tool::parsePipeline(text, manager.asTool(), os);
}

ADBG_STAND_IN inline void printRegisteredPasses() {
  if (adbg::tool::printPasses)
    adbg::tool::printPasses();
}

} // namespace mlir
