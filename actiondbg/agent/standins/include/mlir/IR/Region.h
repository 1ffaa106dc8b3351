//===- Region.h - Regions ---------------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_REGION_H
#define ACTIONDBG_MLIR_REGION_H

#include "mlir/IR/Operation.h"

#endif // ACTIONDBG_MLIR_REGION_H
