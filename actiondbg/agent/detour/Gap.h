//===- Gap.h - Free memory near an object -----------------------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg::detour {

/// The end of what a process can map without asking for more.
#if defined(__aarch64__)
// A program that is not built for one place lies above 2^47.
constexpr uint64_t endOfMemory = 1ull << 48;
#else
constexpr uint64_t endOfMemory = 1ull << 47;
#endif

/// Returns the free place of some size that is nearest to an object, on either
/// side; 0 if there is none.
///
/// \param maps of the process, in the format of /proc/self/maps.
/// \param begin of the object in memory; `end` is the end.
/// \param reach the distance of the object's farthest byte from the place's.
/// \param most the end of memory.
inline uint64_t nearestGap(FILE *maps, uint64_t begin, uint64_t end,
                           uint64_t size, int64_t reach,
                           uint64_t most = endOfMemory) {
  int64_t lowest = static_cast<int64_t>(end) - reach;
  int64_t highest = static_cast<int64_t>(begin + reach - size);
  uint64_t best = 0, previous = 1 << 16;
  auto far = [&](uint64_t from) {
    return from > begin ? from - begin : begin - from;
  };
  bool isMore = true;
  char line[512];
  while (isMore) {
    unsigned long long next = most, after = most;
    isMore = fgets(line, sizeof(line), maps);
    if (isMore && sscanf(line, "%llx-%llx", &next, &after) != 2)
      continue; // the rest of a long line
    if (next > most)
      next = most;
    if (next > previous && next - previous >= size) {
      // Below the object its end is near, above it its begin.
      uint64_t place = next <= begin ? next - size : previous;
      auto at = static_cast<int64_t>(place);
      if (at >= lowest && at <= highest && (!best || far(place) < far(best)))
        best = place;
    }
    previous = after;
  }
  return best;
}

} // namespace adbg::detour
