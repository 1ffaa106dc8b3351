//===- PassManager.h - Pass managers ----------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_PASSMANAGER_H
#define ACTIONDBG_MLIR_PASSMANAGER_H

#include "mlir/Pass/Pass.h"

namespace mlir {

class PassManager;

} // namespace mlir

#endif // ACTIONDBG_MLIR_PASSMANAGER_H
