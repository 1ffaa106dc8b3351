//===- HookedCapabilities.cpp - What hooks and references allow -----------===//

#include "interpose/HookedCapabilities.h"
#include "interpose/Interpose.h"
#include "support/Symbols.h"
#include "threads/Contexts.h"

using llvm::StringRef;

namespace adbg {

namespace {
/// A function that must be detoured for a capability: one of these symbols.
struct Need {
  StringRef capability;
  const char *symbol;
  const char *otherwise = nullptr;
};
} // namespace

static constexpr Need needs[] = {
    {"outcomes", ADBG_MATCH_AND_REWRITE},
    {"reasons", ADBG_MATCH_AND_REWRITE},
    {"changes", ADBG_ADD_OPERATION},
    {"changes", ADBG_ERASE},
    {"changes", ADBG_REPLACE_VALUES, ADBG_REPLACE_OP},
    {"changes", ADBG_FINALIZE_MODIFICATION},
    {"watch", ADBG_ADD_OPERATION},
    {"watch", ADBG_ERASE},
    {"lineage", ADBG_ADD_OPERATION},
    {"lineage", ADBG_RUN_PASSES},
    {"folds", ADBG_FOLD, ADBG_FOLD_RESULTS},
    {"catch", ADBG_VERIFY},
    {"threads-off", ADBG_DISABLE_THREADING},
    {"ordinals-stable", ADBG_DISABLE_THREADING},
    {"fork", ADBG_DISABLE_THREADING},
    {"legalizations", ADBG_MATCH_AND_REWRITE},
    {"legalizations", ADBG_PARTIAL_CONVERSION, ADBG_FULL_CONVERSION},
    {"alternatives", ADBG_COST_MODEL},
    {"alternatives", ADBG_RUN_PASSES},
};

std::string whyNotHooked(StringRef capability) {
  for (const Need &need : needs) {
    if (need.capability != capability || isInterposed(need.symbol) ||
        (need.otherwise && isInterposed(need.otherwise)))
      continue;
    std::string name = readableName(need.symbol);
    for (const Hook *hook : hooks().refused())
      if (StringRef(hook->symbol) == need.symbol)
        return name + " is not followed: " + hook->place().refusal;
    return name + " is not followed";
  }
  return "";
}

} // namespace adbg
