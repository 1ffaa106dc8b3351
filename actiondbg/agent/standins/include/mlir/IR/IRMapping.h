//===- IRMapping.h - Copies of IR -------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_IRMAPPING_H
#define ACTIONDBG_MLIR_IRMAPPING_H

namespace mlir {

/// The tool's, which is only passed on.
class IRMapping;

} // namespace mlir

#endif // ACTIONDBG_MLIR_IRMAPPING_H
