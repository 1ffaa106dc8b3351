//===- Skips.cpp - The actions to skip ------------------------------------===//

#include "match/Skips.h"

namespace adbg {

std::optional<SkipRule> SkipRule::parse(Fields &fields) {
  SkipRule rule;
  rule.first = fields.integer("first", 1);
  if (int64_t last = fields.integerOr("last", 1, 0))
    rule.last = last;
  std::optional<Spec> spec = Spec::parse(fields);
  if (!spec || !fields.done())
    return std::nullopt;
  rule.spec = std::move(*spec);
  return rule;
}

bool Skips::setRules(StringRef json) {
  std::optional<Json> list = llvm::json::parse(json);
  if (!list)
    return false;
  Object object{{"rules", std::move(*list)}};
  Fields fields(object);
  rules = fields.objects<SkipRule>("rules");
  return fields.error.empty();
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
