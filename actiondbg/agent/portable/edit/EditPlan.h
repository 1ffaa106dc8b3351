//===- EditPlan.h - No edits without MLIR's parser --------------*- C++ -*-===//
//
// Replaces edit/EditPlan.h in the portable agent: the text of IR can only be
// parsed with the headers of the tool's MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_EDITPLAN_H
#define ACTIONDBG_PORTABLE_EDITPLAN_H

#include "support/Fields.h"

namespace adbg {

class Engine;

struct Edit {
  static std::optional<Edit> parse(Fields &fields) {
    fields.fail("this agent cannot edit IR");
    return std::nullopt;
  }
};

class EditPlan {
public:
  void set(const std::vector<Edit> &) {}
  bool empty() const { return true; }
  std::string apply(Engine &) { return ""; }
};

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_EDITPLAN_H
