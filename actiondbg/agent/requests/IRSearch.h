//===- IRSearch.h - IR units by name or location ----------------*- C++ -*-===//

#pragma once

#include "observe/Identity.h"
#include "support/Connection.h"

#include "mlir/IR/Unit.h"

namespace adbg {

/// Returns the indices that lead from `root` to `unit`: of a region in its
/// operation, of a block in its region, of an operation in its block.
Array pathTo(const IRUnit &unit, Operation *root);

using FoundUnit = std::variant<IRUnit, RequestError>;

/// Finds the unit that defines a value, by its SSA name; among several values
/// of that name, the innermost that is visible at the cursor.
FoundUnit findValue(const IRUnit &cursor, StringRef name);
/// Finds the unit that defines one of the values with these keys, separated by
/// blanks; among several, the innermost that is visible at the cursor.
FoundUnit findKeys(const IRUnit &cursor, StringRef keys);
FoundUnit findSymbol(const IRUnit &cursor, StringRef name);
/// Finds the operation at a location. `path` matches by whole components from
/// its end. `column`: 0 for any.
FoundUnit findLocation(const IRUnit &cursor, StringRef path, int64_t line,
                       int64_t column);

} // namespace adbg
