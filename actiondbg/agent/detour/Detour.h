//===- Detour.h - Functions that jump elsewhere -----------------*- C++ -*-===//

#pragma once

#include "detour/LoadedObjects.h"

namespace adbg::detour {

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
