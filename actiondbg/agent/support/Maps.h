//===- Maps.h - Maps and sets by text ---------------------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// In the order of their texts. A text is looked up without a copy.
template <typename Value>
using TextMap = std::map<std::string, Value, std::less<>>;
using TextSet = std::set<std::string, std::less<>>;

/// The value of a key, or a default one.
template <typename Map, typename Key>
typename Map::mapped_type valueOf(const Map &map, const Key &key) {
  auto entry = map.find(key);
  return entry == map.end() ? typename Map::mapped_type() : entry->second;
}

} // namespace adbg
