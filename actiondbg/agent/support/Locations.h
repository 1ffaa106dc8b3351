//===- Locations.h - File locations inside locations ------------*- C++ -*-===//

#pragma once

#include "interpose/Versions.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adbg {

/// Returns the first file location inside `loc`.
std::optional<FilePlace> firstPlace(mlir::Location loc);

/// Calls `visit` on each location inside `loc` until it returns true.
bool visitLocations(mlir::Location loc,
                    llvm::function_ref<bool(mlir::Location)> visit);

} // namespace adbg
