//===- IRLines.h - The lines of printed IR around an operation --*- C++ -*-===//

#pragma once

#include "print/LinePrinter.h"
#include "llvm/Support/JSON.h"

namespace adbg {

/// A line: part `part` of an operation, or the label of a block.
struct LinePlace {
  Operation *op = nullptr;
  unsigned part = 0;
  Block *label = nullptr;

  explicit operator bool() const { return op || label; }
  bool operator==(const LinePlace &other) const {
    return op == other.op && part == other.part && label == other.label;
  }
};

/// Walks the lines of printed IR in both directions and prints only those that
/// it visits.
class IRLines {
public:
  IRLines(MLIRContext *context, const LineStyle &style)
      : printer(context, style) {}

  /// The line of a unit; the nearest operation around it that is printed, if it
  /// is in a region that is not.
  LinePlace placeOf(const IRUnit &unit);
  LinePlace next(LinePlace place);
  LinePlace previous(LinePlace place);
  unsigned partsOf(Operation *op) { return printed(op).parts.size(); }
  Object describe(const LinePlace &place);

private:
  const PrintedOperation &printed(Operation *op);
  const PrintedRegion *regionAround(Operation *parent, Region *region,
                                    unsigned &index);
  bool isShown(Operation *op);
  bool isElided(Operation *op);
  bool hasLabel(Block *block);
  LinePlace firstOf(Block *block);
  LinePlace lastOf(Block *block);
  LinePlace lastOf(Operation *op);
  LinePlace after(Block *block);
  LinePlace before(Block *block);
  int64_t depthOf(const LinePlace &place);

  LinePrinter printer;
  std::map<Operation *, PrintedOperation> all;
};

} // namespace adbg
