//===- Detour.h - Functions that jump elsewhere -----------------*- C++ -*-===//

#pragma once

#include "detour/LoadedObjects.h"

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

//===----------------------------------------------------------------------===//
// The first instructions of a function
//
// A detour overwrites the first instructions of a function with a jump. A copy
// of them that does the same elsewhere, followed by a jump to the rest, is the
// original function to who calls it.
//===----------------------------------------------------------------------===//

/// The function to copy instructions of.
struct FunctionCode {
  /// Where the bytes can be read.
  const uint8_t *bytes;
  /// The number of readable bytes, not more than the function has.
  size_t size;
  /// Where the bytes are when they run.
  uint64_t address;
};

/// A copy of a function's first instructions.
struct Relocated {
  /// Why there is none: a text that lives forever; null if there is one.
  const char *refusal = nullptr;
  /// The number of the function's bytes that may be overwritten.
  size_t taken = 0;
  /// The number of bytes of the copy.
  size_t size = 0;
  /// Whether control may leave the copy at its end, to the rest.
  bool continues = true;
};

/// The most bytes of a copy.
constexpr size_t mostRelocated = 128;

/// Copies the first instructions of an x86-64 function, at least `needed`
/// bytes, to `copy`, which has room for mostRelocated bytes and will run at
/// `address`.
Relocated relocateX86(const FunctionCode &function, size_t needed,
                      uint8_t *copy, uint64_t address);

/// The same for aarch64. A literal that is loaded is copied behind the code.
Relocated relocateAArch64(const FunctionCode &function, size_t needed,
                          uint8_t *copy, uint64_t address);

//===----------------------------------------------------------------------===//
// Detours
//===----------------------------------------------------------------------===//

/// Where calls of a function go, once it is detoured.
struct Crossing {
  /// The function that is called instead. It may be changed at any time.
  void *volatile target = nullptr;
  /// The function as it was.
  void *original = nullptr;
  /// Why it is not detoured: a text that lives forever.
  const char *refusal = nullptr;
};

/// A jump that overwrites the entry of a function.
struct EntryJump {
  size_t size;
  /// How far it leads, in bytes.
  int64_t reach;
};

/// Detours functions of one object, all at its end. The code and the crossings
/// stay in memory for as long as the process: a thread may run in them.
class Detours {
public:
  explicit Detours(const LoadedObject &object);
  ~Detours();
  Detours(const Detours &) = delete;
  Detours &operator=(const Detours &) = delete;

  /// Makes a function jump to `target` when this ends, if nothing is refused
  /// until then. A refused one is as before, and never partly changed. No
  /// thread may run the function's first instructions at that moment.
  const Crossing &add(const SymbolPlace &place, void *target);

  /// The number of functions that there is room for.
  static constexpr size_t capacity = 96;

private:
  uint8_t *reserve(int64_t reach) const;
  const char *copyEntry(uint8_t *function, size_t size, size_t entrySize,
                        uint8_t *code, Crossing &crossing);
  const char *prepare(uint8_t *function, size_t size);

  const LoadedObject &object;
  EntryJump jump = {};
  /// Memory in reach of the object's jumps: code, then crossings. Null if there
  /// is none.
  uint8_t *island = nullptr;
  Crossing *crossings = nullptr;
  uint8_t *functions[capacity];
  /// A jump on the way to the island, of functions that are too short for one
  /// that reaches it.
  uint8_t *stones[capacity] = {};
  size_t used = 0;
};

/// Makes the function at `address`, which does nothing, call `target` instead.
/// Returns why that is impossible, or null.
const char *replaceEmpty(const LoadedObject &object, void *address,
                         void *target);

} // namespace adbg::detour
