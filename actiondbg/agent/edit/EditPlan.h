//===- EditPlan.h - The edits of a timeline ---------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/AsmState.h"
#include "support/Fields.h"

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

class Engine;

/// One edit: IR that replaces an operation at an event, or passes that run on
/// it.
struct Edit {
  uint64_t event = 0;
  /// The operation.
  uint32_t id = 0;
  /// The file with the edited text; empty for passes.
  std::string path;
  /// The passes; empty for text.
  std::string pipeline;
  /// Whether the text was printed in the generic form.
  bool generic = false;
  static Edit parse(Fields &fields);
};

/// The edits of this timeline. Each is applied when the run reaches its event,
/// so that replays repeat it.
class EditPlan {
public:
  /// Replaces the edits. Those of earlier events, and those that were applied
  /// at this event already, are not applied again.
  void set(std::vector<Edit> edits) { all = std::move(edits); }
  bool empty() const { return all.empty(); }
  /// Applies the edits of the current event. Returns why one of them cannot be
  /// applied; empty if all were. The IR may be incomplete after an error.
  std::string apply(Engine &engine);

private:
  std::vector<Edit> all;
  /// The newest event with edits, and the number of those applied there.
  uint64_t event = 0;
  size_t applied = 0;
};

} // namespace adbg
