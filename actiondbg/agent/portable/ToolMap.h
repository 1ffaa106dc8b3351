//===- ToolMap.h - Maps that the tool fills ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_PORTABLE_TOOLMAP_H
#define ACTIONDBG_PORTABLE_TOOLMAP_H

#include "portable/Layout.h"
#include <cstdint>
#include <utility>

namespace adbg {

/// A view of an llvm::DenseMap of LLVM 19 to 23 with addresses as keys and
/// values of 8 bytes. Later maps have another layout: see isKnown().
template <typename Key, typename Value> class ToolMap {
public:
  struct Entry {
    Key *first;
    Value second;
  };
  static_assert(sizeof(Entry) == 16);

  /// Whether the tool's maps have this layout. The new one came to LLVM in the
  /// same months as the larger regions; with checks, a map counts its changes.
  static bool isKnown() {
    return Layout::offsets.regionSize == 24 && !Layout::offsets.hasChecks;
  }

  const Entry *find(const Key *key) const {
    auto address = reinterpret_cast<uintptr_t>(key);
    if (!isKnown() || !count || (count & (count - 1)))
      return nullptr;
    uint32_t place = uint32_t(address >> 4) ^ uint32_t(address >> 9);
    for (uint32_t step = 1; step <= count; place += step++) {
      const Entry &entry = entries[place & (count - 1)];
      if (entry.first == key)
        return &entry;
      if (reinterpret_cast<uintptr_t>(entry.first) == empty)
        break;
    }
    return nullptr;
  }

private:
  static constexpr uintptr_t empty = ~uintptr_t(0) << 12;

  const Entry *entries = nullptr;
  uint32_t used = 0, erased = 0, count = 0;
};

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_TOOLMAP_H
