//===- IRLines.h - The lines of printed IR around an operation --*- C++ -*-===//

#pragma once

#include "print/LinePrinter.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace adbg {

/// A line: part `part` of an operation, or the label of a block.
struct LinePlace {
  mlir::Operation *op = nullptr;
  unsigned part = 0;
  mlir::Block *label = nullptr;

  explicit operator bool() const { return op || label; }
  bool operator==(const LinePlace &other) const {
    return op == other.op && part == other.part && label == other.label;
  }
};

/// Walks the lines of printed IR in both directions and prints only those that
/// it visits.
class IRLines {
public:
  IRLines(mlir::MLIRContext *context, const Identities &ids,
          const LineStyle &style)
      : ids(ids), printer(context, ids, style) {}

  /// The line of a unit; the nearest operation around it that is printed, if it
  /// is in a region that is not.
  LinePlace placeOf(const mlir::IRUnit &unit);
  LinePlace next(LinePlace place);
  LinePlace previous(LinePlace place);
  unsigned partsOf(mlir::Operation *op) { return printed(op).parts.size(); }
  llvm::json::Object describe(const LinePlace &place);

private:
  const PrintedOperation &printed(mlir::Operation *op);
  const PrintedRegion *regionAround(mlir::Operation *parent,
                                    mlir::Region *region, unsigned &index);
  bool isShown(mlir::Operation *op);
  bool isElided(mlir::Operation *op);
  bool hasLabel(mlir::Block *block);
  LinePlace firstOf(mlir::Block *block);
  LinePlace lastOf(mlir::Block *block);
  LinePlace lastOf(mlir::Operation *op);
  LinePlace after(mlir::Block *block);
  LinePlace before(mlir::Block *block);
  int64_t depthOf(const LinePlace &place);

  const Identities &ids;
  LinePrinter printer;
  std::map<mlir::Operation *, PrintedOperation> all;
};

} // namespace adbg
