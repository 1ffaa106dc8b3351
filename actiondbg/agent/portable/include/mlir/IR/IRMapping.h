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
    auto *entry = adbg::ToolMap<Block, Block *>::findAt(this, 1, block);
    return entry ? entry->second : nullptr;
  }
};

} // namespace mlir

#endif // ACTIONDBG_MLIR_IRMAPPING_H
