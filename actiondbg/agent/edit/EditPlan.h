//===- EditPlan.h - The edits of a timeline ---------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/AsmState.h"
#include "support/Fields.h"

namespace adbg {

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
