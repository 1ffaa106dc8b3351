//===- ToolMap.h - Maps that the tool fills ---------------------*- C++ -*-===//

#pragma once

#include "layout/Layout.h"

namespace adbg {

/// An llvm::DenseMap of the tool's, with addresses as keys and values of 8
/// bytes. What it contains tells its layout, which changed in LLVM 23:
///
///   until then  the entries; how many are used, were erased, and exist
///   since then  the entries; a bit for each that is used, behind them; how
///               many are used, and exist
///
/// In builds with ABI-breaking checks, a count of its changes is in front.
template <typename Key, typename Value> class ToolMap {
public:
  struct Entry {
    Key *first;
    Value second;
  };
  static_assert(sizeof(Entry) == 16);

  const Entry *find(const Key *key) const {
    const uint64_t *map = words + Layout::offsets.hasChecks;
    auto *entries = reinterpret_cast<const Entry *>(map[0]);
    auto *bits = reinterpret_cast<const uint32_t *>(map[1]);
    auto count = uint32_t(map[2]), newCount = uint32_t(map[2] >> 32);
    if (newCount && map[1] == reinterpret_cast<uintptr_t>(entries + newCount))
      return findAmong(entries, bits, newCount, key);
    return findAmong(entries, nullptr, count, key);
  }

private:
  /// Probes quadratically, to an empty key; or linearly, to an entry that is
  /// not used.
  static const Entry *findAmong(const Entry *entries, const uint32_t *bits,
                                uint32_t count, const Key *key) {
    if (!entries || !count || (count & (count - 1)))
      return nullptr;
    uint64_t address = reinterpret_cast<uintptr_t>(key);
    uint64_t mixed = address * 0xbf58476d1ce4e5b9;
    auto place = bits ? uint32_t(mixed ^ mixed >> 31)
                      : uint32_t(address >> 4) ^ uint32_t(address >> 9);
    for (uint32_t step = 1; step <= count; place += bits ? 1 : step, ++step) {
      uint32_t at = place & (count - 1);
      if (bits && !(bits[at / 32] >> at % 32 & 1))
        break;
      if (entries[at].first == key)
        return &entries[at];
      if (!bits && reinterpret_cast<uintptr_t>(entries[at].first) == empty)
        break;
    }
    return nullptr;
  }

  static constexpr uintptr_t empty = ~uintptr_t(0) << 12;

  /// All of the largest layout: the tool believes what it finds there.
  uint64_t words[4] = {};
};

} // namespace adbg
