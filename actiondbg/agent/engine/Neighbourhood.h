//===- Neighbourhood.h - What is around an operation ------------*- C++ -*-===//

#pragma once

#include "support/Traits.h"
#include "llvm/Support/JSON.h"

namespace adbg {

/// Describes an operation and what a pattern may look at around it: the
/// operations that define its operands and theirs, its users, attributes,
/// types, regions, successors and parents. Its size is bounded.
llvm::json::Object describeNeighbourhood(mlir::Operation *op,
                                         OperationNames &names);

} // namespace adbg
