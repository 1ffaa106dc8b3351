//===- OtherNames.cpp - Names of functions in other builds ----------------===//

#include "detour/OtherNames.h"

namespace adbg::detour {

namespace {
/// A part of a name, and what is there in another build.
struct NamePart {
  std::string_view now, otherwise;
};
} // namespace

/// The nodes of lists: they know whether they are the sentinel in builds with
/// ABI-breaking checks, their parent since LLVM 20, and bits of iterators since
/// 18. In MLIR 19 LogicalResult moved to LLVM, and in 18 a function got another
/// name.
static constexpr NamePart differing[] = {
    {"Lb0ELb0EvLb0EvEE", "Lb1ELb0EvLb0EvEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb0ELb0EvLb0EEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb1ELb0EvLb0EEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb0ELb0EvEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb1ELb0EvEE"},
    {"NS5_13LogicalResultE", "NS_13LogicalResultE"},
    {"22finalizeOpModification", "18finalizeRootUpdate"},
};

const std::vector<std::string> &otherNames(std::string_view symbol) {
  static auto *known = new std::map<std::string_view, std::vector<std::string>>;
  auto [entry, isNew] = known->try_emplace(symbol);
  for (const NamePart &part : differing) {
    size_t at = symbol.find(part.now);
    if (!isNew || at == symbol.npos)
      continue;
    std::string &other = entry->second.emplace_back(symbol);
    other.replace(at, part.now.size(), part.otherwise);
  }
  return entry->second;
}

} // namespace adbg::detour
