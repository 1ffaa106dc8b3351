//===- SymbolSet.h - Wanted symbols, and where they are ---------*- C++ -*-===//

#pragma once

#include "support/System.h"

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
  /// Adds a name; returns its index. The same name has one index.
  size_t add(std::string_view name);
  /// Returns the index of a name, or `none`.
  size_t find(std::string_view name) const;
  static constexpr size_t none = ~size_t(0);

  size_t size() const { return names.size(); }
  std::string_view name(size_t index) const { return names[index]; }
  /// A hash of all names in their order.
  uint64_t hash() const;

private:
  void grow();
  size_t &slotOf(std::string_view name);

  std::vector<std::string_view> names;
  /// Indices of names, by their hash; `none` where there is no name.
  std::vector<size_t> slots;
};

/// Where the names of a set are; by index.
using SymbolPlaces = std::vector<SymbolPlace>;

} // namespace adbg::detour
