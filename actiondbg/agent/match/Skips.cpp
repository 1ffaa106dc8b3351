//===- Skips.cpp - The actions to skip ------------------------------------===//

#include "match/Skips.h"

namespace adbg {

SkipRule SkipRule::parse(Fields &fields) {
  SkipRule rule;
  rule.first = fields.integer("first", 1);
  if (int64_t last = fields.integerOr("last", 1, 0))
    rule.last = last;
  rule.spec = Spec::parse(fields);
  return rule;
}

bool Skips::setRules(StringRef json) {
  std::optional<Json> list = llvm::json::parse(json);
  if (!list)
    return false;
  Object object{{"rules", std::move(*list)}};
  Fields fields(object);
  std::vector<SkipRule> read = fields.objects<SkipRule>("rules");
  if (!fields.error.empty())
    return false;
  rules = std::move(read);
  return true;
}

bool Skips::wants(const Frame &frame) {
  uint64_t ordinal = frame.ordinal;
  if (std::ranges::binary_search(wanted, ordinal))
    return true;
  if (rules.empty() || std::ranges::binary_search(exempt, ordinal))
    return false;
  for (SkipRule &rule : rules)
    if (rule.first <= ordinal && ordinal <= rule.last &&
        rule.spec.matches(frame)) {
      ++rule.uses;
      return true;
    }
  return false;
}

} // namespace adbg
