//===- Capabilities.cpp - What the agent can do in this process -----------===//

#include "engine/Describe.h"
#include "interpose/Interpose.h"
#include "support/Connection.h"
#include "support/Symbols.h"
#include "support/Without.h"
#include <bitset>

namespace adbg {

//===----------------------------------------------------------------------===//
// What hooks and references allow
//===----------------------------------------------------------------------===//

namespace {
/// A function that must be detoured for a capability. Its symbols are those of
/// different builds: a detour of one symbol is enough.
/// Of several capabilities that need a function, the first owns it: --without
/// leaves the function alone with its owner only.
struct Need {
  StringRef capability;
  const char *symbols[4];

  template <typename Matches> bool any(Matches matches) const {
    return std::ranges::any_of(
        symbols, [&](const char *symbol) { return symbol && matches(symbol); });
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

namespace {
/// A function that capabilities call; null where the linker left it out.
struct Called {
  StringRef capabilities;
  const void *function;
  const char *name;

  template <typename Function>
  Called(StringRef capabilities, Function *function, const char *name)
      : capabilities(capabilities),
        function(reinterpret_cast<const void *>(function)), name(name) {}
};
} // namespace

/// Returns which functions for a capability the linker left out of the tool:
/// the end of a sentence; empty if it has them all.
static std::string whyLeftOut(StringRef capability) {
  static constexpr StringRef both = "edit alternatives";
  // The places are known when the tool's MLIR is bound, and not before.
  const Called functions[] = {
      {both, &tool::parsePipeline, "mlir::parsePassPipeline"},
      {both, &tool::makeManager,
       "mlir::PassManager::PassManager(OperationName)"},
      {both, &tool::endManager, "mlir::PassManager::~PassManager"},
      {both, &tool::runManager, "mlir::PassManager::run"},
      {both, &tool::enterThreads,
       "mlir::MLIRContext::enterMultiThreadedExecution"},
      {both, &tool::exitThreads,
       "mlir::MLIRContext::exitMultiThreadedExecution"},
      {both, &tool::invalidateAnalyses,
       "mlir::detail::NestedAnalysisMap::invalidate"},
      {"edit", &tool::nestAnalyses, "mlir::AnalysisManager::nest"},
      {"edit", &tool::parseSource, "mlir::parseSourceString"},
      {"edit", &tool::makeModule, "mlir::ModuleOp::create"},
      {"edit", &tool::unknownLocation, "mlir::UnknownLoc::get"},
      {"edit", &tool::setAttributes, "mlir::Operation::setAttrs"},
      {"edit", &tool::setOperands, "mlir::Operation::setOperands"},
      {"edit", &tool::removeOperation, "mlir::Operation::remove"},
      {"edit", &tool::eraseOperation, "mlir::Operation::erase"},
      {"edit", &tool::dropReferencesOf, "mlir::Operation::dropAllReferences"},
      {"edit", &tool::dropUsesOf, "mlir::Operation::dropAllDefinedValueUses"},
      {"edit", &tool::addArgument, "mlir::Block::addArgument"},
      {"edit", &tool::eraseArguments, "mlir::Block::eraseArguments"},
      {"edit", &tool::eraseBlock, "mlir::Block::erase"},
      {"edit", &tool::moveOperation, "mlir::Operation::moveBefore"},
      {"edit", &tool::moveBlock, "mlir::Block::moveBefore"},
      {tool::actionOf ? "" : "legalizations", &tool::legalityOf,
       "mlir::ConversionTarget::getOpAction"},
      {"legalizations", &tool::isIllegal, "mlir::ConversionTarget::isIllegal"},
  };
  std::string missing;
  for (const Called &need : functions)
    if (!need.function && need.capabilities.contains(capability))
      missing += (missing.empty() ? "" : ", ") + std::string(need.name);
  return missing.empty() ? "" : "the linker left out " + missing;
}

namespace {

constexpr const char *names[] = {
    "interrupt", "skip",        "print",         "location",
    "cursor",    "outcomes",    "changes",       "folds",
    "reasons",   "threads-off", "fork",          "ordinals-stable",
    "watch",     "catch",       "values",        "record",
    "lineage",   "edit",        "legalizations", "alternatives",
    "statistics"};

/// Returns which check of MLIR's layout a capability failed. Before the first
/// IR is seen, none has failed.
std::string whyNotRead(StringRef name) {
  struct Need {
    StringRef capability;
    Layout::Check check;
  };
  static constexpr Need needs[] = {
      {"cursor", Layout::Check::Regions},
      {"changes", Layout::Check::Operations},
      {"folds", Layout::Check::Operations},
      {"lineage", Layout::Check::Regions},
      {"values", Layout::Check::Values},
      {"location", Layout::Check::Printing},
      {"location", Layout::Check::Locations},
      {"print", Layout::Check::Printing},
      {"edit", Layout::Check::Regions},
      {"edit", Layout::Check::Values},
      {"legalizations", Layout::Check::Operations},
      {"alternatives", Layout::Check::Operations},
  };
  for (const Need &need : needs) {
    StringRef owner = Layout::capabilityOf(need.check);
    if (need.capability == name && isSwitchedOff(owner))
      return "it needs '" + owner.str() + "': " + switchedOff;
  }
  if (!Layout::isDecided())
    return "";
  for (const Need &need : needs)
    if (need.capability == name && !Layout::passed(need.check))
      return "the layout of this MLIR is not known: " +
             Layout::failure(need.check);
  if (name == "reasons" && !ReasonListener::isKnown())
    return "the layout of this MLIR's rewriters is not known";
  return "";
}

/// Returns why a capability is missing: the end of a sentence; empty if its
/// check passed.
std::string missing(StringRef name) {
  if (isSwitchedOff(name))
    return switchedOff;
  // A program that connected by itself outlives the front end: others wait for
  // this process, and a fork cannot take its place.
  if (name == "fork" && Connection::onGone)
    return "other processes wait for the program that connected by itself";
  if (std::string why = whyLeftOut(name); !why.empty())
    return why;
  if (std::string why = whyNotRead(name); !why.empty())
    return why;
  return whyNotHooked(name);
}

} // namespace

void addCapabilities(Object &message) {
  Array present;
  Object lost;
  for (const char *name : names)
    if (std::string why = missing(name); why.empty())
      present.push_back(name);
    else
      lost[name] = why;
  message["capabilities"] = std::move(present);
  message["missing"] = std::move(lost);
}

void addLostCapabilities(Object &stop) {
  // The front end has those of the MLIR at the last stop.
  static unsigned told = 0;
  if (std::exchange(told, Instances::current()) != told)
    return addCapabilities(stop);
  if (!Layout::isDecided())
    return;
  // Whether the rewriters' layout is known shows at the first pattern only.
  static ADBG_OF_INSTANCE std::bitset<std::size(names)> isTold;
  Object lost;
  for (size_t i = 0; i < std::size(names); ++i)
    if (!isTold[i] && !whyNotRead(names[i]).empty()) {
      isTold[i] = true;
      lost[names[i]] = missing(names[i]);
    }
  if (!lost.empty())
    stop["missing"] = std::move(lost);
}

} // namespace adbg
