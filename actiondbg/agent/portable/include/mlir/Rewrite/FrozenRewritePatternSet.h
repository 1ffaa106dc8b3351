//===- FrozenRewritePatternSet.h - Sets of patterns -------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_FROZENREWRITEPATTERNSET_H
#define ACTIONDBG_MLIR_FROZENREWRITEPATTERNSET_H

#include "mlir/IR/PatternMatch.h"

namespace mlir {

class FrozenRewritePatternSet;

} // namespace mlir

#endif // ACTIONDBG_MLIR_FROZENREWRITEPATTERNSET_H
