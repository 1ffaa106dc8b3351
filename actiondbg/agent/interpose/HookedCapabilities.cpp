//===- HookedCapabilities.cpp - What hooks and references allow -----------===//

#include "interpose/HookedCapabilities.h"
#include "interpose/Interpose.h"
#include "support/Symbols.h"
#include "support/Without.h"
#include "threads/Contexts.h"

namespace adbg {

namespace {
/// A function that must be detoured for a capability. Its symbols are those of
/// different builds: a detour of one symbol is enough.
/// Of several capabilities that need a function, the first owns it: --without
/// leaves the function alone with its owner only.
struct Need {
  StringRef capability;
  const char *symbols[4];

  template <typename Matches> bool any(Matches matches) const {
    return std::any_of(symbols, symbols + 4, [&](const char *symbol) {
      return symbol && matches(symbol);
    });
  }
};
} // namespace

static constexpr Need needs[] = {
    {"outcomes", {ADBG_MATCH_AND_REWRITE}},
    {"reasons", {ADBG_MATCH_AND_REWRITE}},
    {"changes", {ADBG_ADD_OPERATION}},
    {"changes", {ADBG_ERASE}},
    {"changes", {ADBG_REPLACE_VALUES, ADBG_REPLACE_OP}},
    {"changes", {ADBG_FINALIZE_MODIFICATION}},
    {"watch", {ADBG_ADD_OPERATION}},
    {"watch", {ADBG_ERASE}},
    {"lineage", {ADBG_ADD_OPERATION}},
    {"lineage", {ADBG_RUN_PASSES}},
    {"folds", {ADBG_FOLD, ADBG_FOLD_RESULTS}},
    {"catch", {ADBG_VERIFY}},
    {"threads-off", {ADBG_DISABLE_THREADING}},
    {"ordinals-stable", {ADBG_DISABLE_THREADING}},
    {"fork", {ADBG_DISABLE_THREADING}},
    {"legalizations", {ADBG_MATCH_AND_REWRITE}},
    {"legalizations",
     {ADBG_PARTIAL_CONVERSION, ADBG_FULL_CONVERSION,
      ADBG_PARTIAL_CONVERSION_TO_18, ADBG_FULL_CONVERSION_TO_18}},
    {"alternatives", {ADBG_COST_MODEL}},
    {"alternatives", {ADBG_RUN_PASSES}},
};

/// Functions that a capability is better with, by the beginnings of their
/// symbols.
static constexpr Need helpers[] = {
    {"lineage", {"_ZN4mlir9Operation5clone", "_ZN4mlir6Region9cloneInto"}},
    {"lineage", {"_ZN4mlir9Operation19cloneWithoutRegions"}},
    {"changes", {ADBG_TRANSFER_OPERATIONS, ADBG_TRANSFER_BLOCKS}},
    {"changes", {ADBG_MOVE_BEFORE, ADBG_MOVE_AFTER}},
    {"changes", {ADBG_MOVE_BEFORE_IN, ADBG_MOVE_AFTER_IN}},
    {"changes", {ADBG_ADD_BLOCK, ADBG_REMOVE_BLOCK}},
    {"changes", {ADBG_REPLACE_USES_VALUES, ADBG_REPLACE_USES_OP}},
    {"changes", {"_ZN4mlir25ConversionPatternRewriter"}},
    {"catch", {ADBG_REPORT, ADBG_EMIT}},
    {"legalizations", {"_ZNK4mlir13TypeConverter11convertType"}},
    {"legalizations",
     {"_ZN4mlir22applyPartialConversion", "_ZN4mlir19applyFullConversion"}},
};

const char *whyNotWanted(StringRef symbol) {
  // Else the agent would read what has ended.
  if (symbol == ADBG_ERASE)
    return nullptr;
  for (const Need &need : needs)
    if (need.any([&](const char *other) { return symbol == other; }))
      return isSwitchedOff(need.capability) ? switchedOff : nullptr;
  for (const Need &one : helpers)
    if (one.any([&](const char *begin) { return symbol.starts_with(begin); }))
      return isSwitchedOff(one.capability) ? switchedOff : nullptr;
  return nullptr;
}

std::string whyNotHooked(StringRef capability) {
  for (const Need &need : needs) {
    if (need.capability != capability || need.any(isInterposed))
      continue;
    std::string name = readableName(need.symbols[0]);
    for (const Hook *hook : refusedHooks())
      if (StringRef(hook->symbol) == need.symbols[0])
        return name + " is not followed: " + hook->place().refusal;
    return name + " is not followed";
  }
  return "";
}

} // namespace adbg
