//===- LinePrinter.h - One operation as text, by the tool -------*- C++ -*-===//
//
// The tool prints an operation without its regions; the names of its values are
// then replaced by their keys, and the text is cut where the regions were.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "print/PrintedOperation.h"
#include "print/ValueKeys.h"

#include "mlir/IR/AsmState.h"
#include "support/Maps.h"
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace adbg {

class LinePrinter {
public:
  LinePrinter(mlir::MLIRContext *context, const Identities &ids,
              const LineStyle &style)
      : context(context), ids(ids), style(style) {}

  PrintedOperation print(mlir::Operation *op);
  /// Returns `^bb1(%x: i32):`.
  std::string label(mlir::Block *block);

private:
  /// An operation's results, as they share names.
  struct Known {
    bool isCustom;
    std::vector<ResultGroup> groups;
  };
  using Names = TextMap<mlir::Value>;

  const Known &knownOf(mlir::Operation *op);
  mlir::OpPrintingFlags flagsFor(bool isGeneric) const;
  mlir::AsmState &stateFor(mlir::Operation *op, bool isGeneric);
  void addName(Names &names, mlir::Value value, mlir::AsmState &state);
  Names namesIn(llvm::StringRef text, mlir::Operation *op,
                mlir::AsmState &state);
  std::string hintOf(mlir::BlockArgument argument);
  std::string markOf(mlir::Value value);
  std::string marked(llvm::StringRef text, const Names &names);
  /// Cuts the text of an operation at its regions.
  PrintedOperation cut(llvm::StringRef text, mlir::Operation *op,
                       const Names &names, bool isGeneric);
  PrintedRegion describe(mlir::Region &region, llvm::StringRef before,
                         const Names &names, bool isGeneric);
  mlir::Value shadowOf(mlir::BlockArgument argument);
  std::vector<bool> namedArguments(mlir::Block *entry);
  /// What an operation prints in its regions.
  struct RegionStyle {
    /// The labels of entries with arguments.
    enum { Unknown, None, Some, All } labels = Unknown;
    bool hasEmptyBlock = false, hasTerminators = true;
  };
  RegionStyle styleOf(mlir::Operation *op);

  mlir::MLIRContext *context;
  const Identities &ids;
  LineStyle style;
  /// The names of values in a scope, in the custom and in the generic form: the
  /// tool numbers all values of the scope for them.
  std::map<std::pair<mlir::Operation *, bool>, std::unique_ptr<mlir::AsmState>>
      states;
  std::unordered_map<mlir::Operation *, Known> known;
  /// The result of namedArguments.
  std::map<mlir::Block *, std::vector<bool>> named;
  /// The styles of operations with a name, with and without results.
  std::map<std::pair<const void *, bool>, RegionStyle> styles;
};

} // namespace adbg
