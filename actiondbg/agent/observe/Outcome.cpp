//===- Outcome.cpp - What an action did
//-------------------------------------===//

#include "observe/Outcome.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

StringRef textOf(Result result) {
  static const char *const texts[] = {"succeeded", "unchanged", "failed",
                                      "skipped"};
  return texts[static_cast<unsigned>(result)];
}

StringRef textOf(Found found) {
  static const char *const texts[] = {"", "in-place", "constants", "values",
                                      "constants and values"};
  return texts[static_cast<unsigned>(found)];
}

//===----------------------------------------------------------------------===//
// What one action did
//===----------------------------------------------------------------------===//

bool Frame::changedItself() const {
  if (kind == Kind::Fold || !changed())
    return changed();
  return tally.ownNet > 0;
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

std::optional<OutcomeFilter> OutcomeFilter::parse(Fields &fields) {
  OutcomeFilter filter;
  const llvm::json::Array *results = fields.array("results");
  for (size_t i = 0; results && i < results->size(); ++i) {
    StringRef name = (*results)[i].getAsString().value_or("");
    bool *asked = name == "succeeded"   ? &filter.succeeded
                  : name == "failed"    ? &filter.failed
                  : name == "changed"   ? &filter.changed
                  : name == "unchanged" ? &filter.unchanged
                  : name == "skipped"   ? &filter.skipped
                                        : nullptr;
    if (!asked)
      fields.fail("there is no outcome '" + name + "'");
    else
      *asked = true;
  }
  std::string glob = fields.textOr("reason", ""), error;
  if (!glob.empty() && !(filter.reason = Glob::create(glob, error)))
    fields.fail(error);
  return fields.done() ? std::optional(std::move(filter)) : std::nullopt;
}

bool OutcomeFilter::asksForAll() const {
  return !(succeeded || failed || changed || unchanged || skipped || reason);
}

bool OutcomeFilter::matches(const Frame &frame, bool own) const {
  Result result = frame.result();
  if (asksForAll())
    return true;
  if (reason &&
      llvm::any_of(frame.rare().reasons, [&](const std::string &text) {
        return reason->matchesNow(text);
      }))
    return true;
  if (changed && (own ? frame.changedItself() : frame.changed()))
    return true;
  switch (result) {
  case Result::Succeeded:
    return succeeded;
  case Result::Unchanged:
    return succeeded || unchanged;
  case Result::Failed:
    return failed;
  case Result::Skipped:
    return skipped;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

Statistic &Statistics::find(const Frame &frame) {
  std::string tag = frame.tag().str();
  // All iterations of the greedy driver are one row.
  std::string name = frame.isGreedyIteration() ? "" : frame.name();
  Statistic &one = byName[tag + '\0' + name];
  one.tag = std::move(tag);
  one.name = std::move(name);
  return one;
}

Statistic &Statistics::of(const Frame &frame) {
  auto compute = [&] { return &find(frame); };
  switch (frame.kind) {
  case Kind::Pattern:
    if (StringRef name = frame.pattern()->getDebugName(); !name.empty())
      return *patterns.get(name, compute);
    return find(frame);
  case Kind::Fold:
    return *folds.get(frame.foldedName, compute);
  case Kind::Pass:
    if (StringRef name = frame.pass()->getArgument(); !name.empty())
      return *passes.get(name, compute);
    return *passes.get(frame.pass()->getName(), compute);
  default:
    if (frame.isGreedyIteration())
      return *others.get(frame.tag(), compute);
    return find(frame);
  }
}

} // namespace adbg
