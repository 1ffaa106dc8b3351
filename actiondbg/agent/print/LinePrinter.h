//===- LinePrinter.h - One operation as text, by the tool -------*- C++ -*-===//
//
// The tool prints an operation without its regions; the names of its values are
// then replaced by their keys, and the text is cut where the regions were.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "print/ValueKeys.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

/// Results that share a name, `%x#0` and `%x#1`, as MLIR's printer groups them.
struct ResultGroup {
  unsigned first, size;
  /// The name that the operation suggests; empty for a number.
  std::string hint;
};

/// A region that an operation prints, and how.
struct PrintedRegion {
  Region *region;
  bool hasEntryArguments, hasTerminators, hasEmptyBlock;
  /// By how many levels it is indented more than the operation.
  unsigned indent;
};

/// The text of an operation, cut at its regions: there is one part more than
/// there are regions. In the place of each value stand, between two `mark`s,
/// its key, the id of its scope and the name that it suggests: empty for a
/// number, `arg` for a numbered argument.
struct PrintedOperation {
  static constexpr char mark = '\x1a';
  std::vector<std::string> parts;
  std::vector<PrintedRegion> regions;
};

struct LineStyle {
  /// Constants of more elements are elided; negative: none.
  int64_t elide = 16;
  bool generic = false;
};

class LinePrinter {
public:
  LinePrinter(MLIRContext *context, const LineStyle &style)
      : context(context), style(style) {}

  PrintedOperation print(Operation *op);
  /// Returns `^bb1(%x: i32):`.
  std::string label(Block *block);

private:
  /// An operation's results, as they share names.
  struct Known {
    bool isCustom;
    std::vector<ResultGroup> groups;
  };
  using Names = TextMap<Value>;

  const Known &knownOf(Operation *op);
  OpPrintingFlags flagsFor(bool isGeneric) const;
  AsmState &stateFor(Operation *op, bool isGeneric);
  Names namesIn(StringRef text, Operation *op, AsmState &state);
  std::string hintOf(BlockArgument argument);
  std::string markOf(Value value);
  std::string marked(StringRef text, const Names &names);
  /// Cuts the text of an operation at its regions.
  PrintedOperation cut(StringRef text, Operation *op, const Names &names,
                       bool isGeneric);
  PrintedRegion describe(Region &region, StringRef before, const Names &names,
                         bool isGeneric);
  Value shadowOf(BlockArgument argument);
  std::vector<bool> namedArguments(Block *entry);
  /// What an operation prints in its regions.
  struct RegionStyle {
    /// The labels of entries with arguments.
    enum { Unknown, None, Some, All } labels = Unknown;
    bool hasEmptyBlock = false, hasTerminators = true;
  };
  RegionStyle styleOf(Operation *op);

  MLIRContext *context;
  LineStyle style;
  /// The names of values in a scope, in the custom and in the generic form: the
  /// tool numbers all values of the scope for them.
  std::map<std::pair<Operation *, bool>, std::unique_ptr<AsmState>> states;
  std::unordered_map<Operation *, Known> known;
  std::map<Block *, std::vector<bool>> named;
  /// The styles of operations with a name, with and without results.
  std::map<std::pair<const void *, bool>, RegionStyle> styles;
};

} // namespace adbg
