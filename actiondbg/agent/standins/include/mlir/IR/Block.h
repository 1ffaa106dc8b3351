//===- Block.h - Blocks -----------------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_BLOCK_H
#define ACTIONDBG_MLIR_BLOCK_H

#include "mlir/IR/Operation.h"

#endif // ACTIONDBG_MLIR_BLOCK_H
