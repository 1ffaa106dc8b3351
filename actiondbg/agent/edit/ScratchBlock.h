//===- ScratchBlock.h - A block for parsed IR -------------------*- C++ -*-===//
//
// A block for parsed IR: the body of a new module, as only the tool knows the
// layout of a block.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

class ScratchBlock {
public:
  explicit ScratchBlock(MLIRContext *context)
      : module(tool::makeModule(tool::unknownLocation(context), {})) {}
  ~ScratchBlock() { module->erase(); }
  ScratchBlock(const ScratchBlock &) = delete;
  Block &operator*() { return module->getRegion(0).front(); }

private:
  Operation *module;
};

} // namespace adbg
