//===- SymbolSet.h - Wanted symbols, and where they are ---------*- C++ -*-===//

#pragma once

#include "support/System.h"

#include "llvm/Support/xxhash.h"

namespace adbg::detour {

/// A symbol of an object: relative to where the object is loaded.
struct SymbolPlace {
  uint64_t offset = 0;
  uint64_t size = 0;

  bool isKnown() const { return offset != 0; }
};

/// Mangled names that are looked up together. The names must live as long.
class SymbolSet {
public:
  // Few names for each bucket: most of what is looked up is not there.
  SymbolSet() { indices.max_load_factor(0.125); }

  /// Adds a name; returns its index. The same name has one index.
  size_t add(std::string_view name) {
    auto [entry, isNew] = indices.try_emplace(name, names.size());
    if (isNew)
      names.push_back(name);
    return entry->second;
  }
  /// Returns the index of a name, or `none`.
  size_t find(std::string_view name) const {
    auto entry = indices.find(name);
    return entry == indices.end() ? none : entry->second;
  }
  static constexpr size_t none = ~size_t(0);

  size_t size() const { return names.size(); }
  std::string_view name(size_t index) const { return names[index]; }
  /// A hash of all names in their order.
  uint64_t hash() const {
    uint64_t hash = names.size();
    for (std::string_view name : names)
      hash = (hash ^ llvm::xxh3_64bits({name.data(), name.size()})) *
             0x9e3779b97f4a7c15;
    return hash;
  }

private:
  std::vector<std::string_view> names;
  std::unordered_map<std::string_view, size_t> indices;
};

/// Where the names of a set are; by index.
using SymbolPlaces = std::vector<SymbolPlace>;

} // namespace adbg::detour
