//===- Splice.h - Edited IR in the place of the old IR ----------*- C++ -*-===//

#pragma once

#include "mlir/IR/AsmState.h"

namespace adbg {

/// Makes an operation equal to an edited copy of it, and keeps all operations
/// that were not edited: their ids, their locations and the pointers to them
/// stay valid. Operations correspond if their lines of text are equal, or if
/// operations of the same name stand between the same neighbours.
class Splice {
public:
  /// `before`: the printed text of the operation; `lines`: where its operations
  /// are in it. `after`: the edited text, which locations in `source` refer to.
  Splice(StringRef before, const AsmState::LocationMap &lines, StringRef after,
         StringRef source);

  /// Makes `target` equal to `edited`, and destroys `edited`.
  void into(Operation *target, Operation *edited);

private:
  using Pair = std::pair<Operation *, Operation *>;

  void adopt(Operation *old, Operation *fresh);
  void mergeRegion(Region &old, Region &fresh);
  void mergeArguments(Block &old, Block &fresh);
  void mergeBlock(Block &old, Block &fresh);
  void finish(Operation *edited);
  std::vector<Pair> match(Block &old, Block &fresh);
  /// Returns a number for the line and the name of an operation; 0 if its line
  /// is unknown.
  unsigned keyOf(Operation *op, StringRef line);
  unsigned oldKey(Operation *op);
  unsigned freshKey(Operation *op);

  const AsmState::LocationMap &lines;
  StringRef source;
  std::vector<StringRef> before, after;
  TextMap<unsigned> keys;
  std::vector<Pair> adopted;
  std::vector<Operation *> dead;
  std::vector<Block *> deadBlocks;
  /// Blocks with the number of their first superfluous argument.
  std::vector<std::pair<Block *, unsigned>> shortened;
};

} // namespace adbg
