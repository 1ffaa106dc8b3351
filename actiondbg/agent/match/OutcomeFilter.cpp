//===- OutcomeFilter.cpp - Outcomes that a breakpoint stops at ------------===//

#include "match/OutcomeFilter.h"

namespace adbg {

OutcomeFilter OutcomeFilter::parse(Fields &fields) {
  OutcomeFilter filter;
  const Array *results = fields.array("results");
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
  filter.reason = Glob::parse(fields, "reason");
  return filter;
}

bool OutcomeFilter::asksForAll() const {
  return !(succeeded || failed || changed || unchanged || skipped || reason);
}

bool OutcomeFilter::matches(const Frame &frame, bool own) const {
  Result result = frame.result();
  if (asksForAll())
    return true;
  if (reason &&
      std::ranges::any_of(frame.rare().reasons, [&](const std::string &text) {
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

} // namespace adbg
