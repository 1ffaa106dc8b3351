//===- ScratchBlock.h - A block for parsed IR -------------------*- C++ -*-===//
//
// Replaces edit/ScratchBlock.h in the portable agent: a block whose layout only
// the tool knows is that of a module.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_SCRATCHBLOCK_H
#define ACTIONDBG_PORTABLE_SCRATCHBLOCK_H

#include "mlir/IR/Operation.h"

namespace adbg {

class ScratchBlock {
public:
  explicit ScratchBlock(mlir::MLIRContext *context)
      : module(tool::makeModule(tool::unknownLocation(context), {})) {}
  ~ScratchBlock() { module->erase(); }
  ScratchBlock(const ScratchBlock &) = delete;
  mlir::Block &operator*() { return module->getRegion(0).front(); }

private:
  mlir::Operation *module;
};

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_SCRATCHBLOCK_H
