//===- IRSearch.h - IR units by name or location ----------------*- C++ -*-===//

#pragma once

#include "observe/Identity.h"
#include "support/JsonRpc.h"

#include "mlir/IR/Unit.h"
#include "llvm/Support/JSON.h"
#include <variant>

namespace adbg {

/// Returns the outermost operation around `op`.
mlir::Operation *rootOf(mlir::Operation *op);

/// Returns the indices that lead from `root` to `unit`: of a region in its
/// operation, of a block in its region, of an operation in its block.
llvm::json::Array pathTo(const mlir::IRUnit &unit, mlir::Operation *root);

using FoundUnit = std::variant<mlir::IRUnit, RequestError>;

/// Finds the unit that defines a value, by its SSA name; among several values
/// of that name, the innermost that is visible at the cursor.
FoundUnit findValue(const mlir::IRUnit &cursor, llvm::StringRef name);
/// Finds the unit that defines one of the values with these keys, separated by
/// blanks; among several, the innermost that is visible at the cursor.
FoundUnit findKeys(const mlir::IRUnit &cursor, const Identities &ids,
                   llvm::StringRef keys);
FoundUnit findSymbol(const mlir::IRUnit &cursor, llvm::StringRef name);
/// Finds the operation at a location. `path` matches by whole components from
/// its end. `column`: 0 for any.
FoundUnit findLocation(const mlir::IRUnit &cursor, llvm::StringRef path,
                       int64_t line, int64_t column);

} // namespace adbg
