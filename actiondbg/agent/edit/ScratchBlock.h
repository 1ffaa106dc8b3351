//===- ScratchBlock.h - A block for parsed IR -------------------*- C++ -*-===//
//
// Only the tool knows the layout of a block: it is that of a module.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_EDIT_SCRATCHBLOCK
#define ACTIONDBG_EDIT_SCRATCHBLOCK

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

#endif // ACTIONDBG_EDIT_SCRATCHBLOCK
