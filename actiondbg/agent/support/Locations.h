//===- Locations.h - File locations inside locations ------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Location.h"

namespace adbg {

/// A file location; lines and columns count from 1.
struct FilePlace {
  StringAttr file;
  unsigned line;
  unsigned column;
  unsigned lastLine;
};

/// Returns `loc` itself as a file location, if it is one.
inline std::optional<FilePlace> asFilePlace(Location loc) {
  // Since LLVM 20 a FileLineColLoc is a range of one line and column.
  if (auto range = dyn_cast<FileLineColRange>(loc))
    return FilePlace{range.getFilename(), range.getStartLine(),
                     range.getStartColumn(), range.getEndLine()};
  return std::nullopt;
}

/// Returns the first file location inside `loc`.
std::optional<FilePlace> firstPlace(Location loc);

/// Calls `visit` on each location inside `loc` until it returns true.
bool visitLocations(Location loc, function_ref<bool(Location)> visit);

} // namespace adbg
