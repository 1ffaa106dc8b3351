//===- ScratchBlock.h - A block for parsed IR -------------------*- C++ -*-===//

#ifndef ACTIONDBG_SCRATCHBLOCK_H
#define ACTIONDBG_SCRATCHBLOCK_H

#include "mlir/IR/Operation.h"

namespace adbg {

class ScratchBlock {
public:
  explicit ScratchBlock(mlir::MLIRContext *) {}
  mlir::Block &operator*() { return block; }

private:
  mlir::Block block;
};

} // namespace adbg

#endif // ACTIONDBG_SCRATCHBLOCK_H
