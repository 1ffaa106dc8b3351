//===- IRMapping.h - Copies of IR -------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_IRMAPPING_H
#define ACTIONDBG_MLIR_IRMAPPING_H

#include "mlir/IR/Operation.h"
#include "portable/ToolMap.h"

namespace mlir {

/// The tool's: the copies of blocks come behind those of values.
class IRMapping {
public:
  IRMapping() = delete;

  Block *lookupOrNull(Block *block) const {
    auto *entry = blocks.find(block);
    return entry ? entry->second : nullptr;
  }

private:
  adbg::ToolMap<void, void *> values;
  adbg::ToolMap<Block, Block *> blocks;
};

} // namespace mlir

#endif // ACTIONDBG_MLIR_IRMAPPING_H
