//===- Splice.h - Edited IR in the place of the old IR ----------*- C++ -*-===//

#pragma once

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"
#include "support/Maps.h"
#include <vector>

namespace adbg {

/// Makes an operation equal to an edited copy of it, and keeps all operations
/// that were not edited: their ids, their locations and the pointers to them
/// stay valid. Operations correspond if their lines of text are equal, or if
/// operations of the same name stand between the same neighbours.
class Splice {
public:
  /// `before`: the printed text of the operation; `lines`: where its operations
  /// are in it. `after`: the edited text, which locations in `source` refer to.
  Splice(llvm::StringRef before, const mlir::AsmState::LocationMap &lines,
         llvm::StringRef after, llvm::StringRef source);

  /// Makes `target` equal to `edited`, and destroys `edited`.
  void into(mlir::Operation *target, mlir::Operation *edited);

private:
  using Pair = std::pair<mlir::Operation *, mlir::Operation *>;

  void adopt(mlir::Operation *old, mlir::Operation *fresh);
  void mergeRegion(mlir::Region &old, mlir::Region &fresh);
  void mergeArguments(mlir::Block &old, mlir::Block &fresh);
  void mergeBlock(mlir::Block &old, mlir::Block &fresh);
  void finish(mlir::Operation *edited);
  std::vector<Pair> match(mlir::Block &old, mlir::Block &fresh);
  /// Returns a number for the line and the name of an operation; 0 if its line
  /// is unknown.
  unsigned keyOf(mlir::Operation *op, llvm::StringRef line);
  unsigned oldKey(mlir::Operation *op);
  unsigned freshKey(mlir::Operation *op);

  const mlir::AsmState::LocationMap &lines;
  llvm::StringRef source;
  std::vector<llvm::StringRef> before, after;
  TextMap<unsigned> keys;
  std::vector<Pair> adopted;
  std::vector<mlir::Operation *> dead;
  std::vector<mlir::Block *> deadBlocks;
  /// Blocks with the number of their first superfluous argument.
  std::vector<std::pair<mlir::Block *, unsigned>> shortened;
};

} // namespace adbg
