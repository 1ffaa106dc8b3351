//===- Remembered.h - Numbers that were given before ------------*- C++ -*-===//
//
// A thread's recorder numbers locations and texts. What it does not remember
// gets another number, which readers do not mind: so its memory is bounded.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_REMEMBERED_H
#define ACTIONDBG_REMEMBERED_H

#include "Memo.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>
#include <memory>
#include <string>

namespace adbg {

/// The numbers of locations, by their addresses. Neighbours in memory, which
/// mostly are neighbours in the source, are neighbours here: a table that they
/// are strewn over costs the tool twentieths of its time, as memory that is
/// touched first is slow, and what does not fit into the cache.
class LocationNumbers {
public:
  /// Returns the number of `location`; 0 if it is not known, and then it gets
  /// `next`.
  uint32_t findOrAdd(const void *location, uint32_t next) {
    if (LLVM_UNLIKELY(!slots || epoch != contextsEpoch()))
      forget();
    uintptr_t address = reinterpret_cast<uintptr_t>(location);
    Slot &slot = slots[(address >> alignBits) % size];
    auto above = static_cast<uint32_t>(address >> (alignBits + sizeBits));
    if (LLVM_LIKELY(slot.number && slot.above == above))
      return slot.number;
    slot = {above, next};
    return 0;
  }

private:
  // No two begin in the same 16 bytes; those of 8 MiB have slots of their own.
  static constexpr unsigned alignBits = 4, sizeBits = 19;
  static constexpr size_t size = size_t(1) << sizeBits;
  struct Slot {
    /// The rest of the address.
    uint32_t above;
    uint32_t number;
  };
  struct Free {
    void operator()(void *memory) const { free(memory); }
  };

  void forget() {
    // The system gives the memory when it is written to first.
    slots.reset(static_cast<Slot *>(calloc(size, sizeof(Slot))));
    if (!slots)
      llvm::report_bad_alloc_error("actiondbg: no memory for locations");
    epoch = contextsEpoch();
  }

  std::unique_ptr<Slot[], Free> slots;
  unsigned epoch = 0;
};

/// The numbers of texts that are told again and again from the same place in
/// memory: to compare them is faster than to hash them.
class TextNumbers {
public:
  template <typename Compute>
  uint32_t get(llvm::StringRef text, Compute compute) {
    if (LLVM_UNLIKELY(slots.empty()))
      slots.resize(256);
    auto address = reinterpret_cast<uintptr_t>(text.data());
    Slot &slot = slots[((address >> 3) ^ (address >> 11)) % 256];
    if (LLVM_UNLIKELY(!slot.number || slot.text != text)) {
      slot.text.assign(text.data(), text.size());
      slot.number = compute();
    }
    return slot.number;
  }

private:
  struct Slot {
    std::string text;
    uint32_t number = 0;
  };
  std::vector<Slot> slots;
};

} // namespace adbg

#endif // ACTIONDBG_REMEMBERED_H
