//===- Remembered.h - Numbers that were given before ------------*- C++ -*-===//
//
// A thread's recorder numbers locations and texts. What it does not remember
// gets another number, which readers do not mind: so its memory is bounded.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_REMEMBERED_H
#define ACTIONDBG_REMEMBERED_H

#include "support/Memo.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace adbg {

/// The numbers of what a context keeps: locations, names. Neighbours in memory,
/// which mostly are neighbours in the source, are neighbours here: a table that
/// they are strewn over costs the tool twentieths of its time, as memory that
/// is touched first is slow, and so is what does not fit into the cache.
template <unsigned sizeBits> class AddressNumbers {
public:
  /// Returns the number of what is at `address`; 0 if it is not known.
  uint32_t find(const void *address) {
    const Slot &slot = slotOf(address);
    return LLVM_LIKELY(slot.above == aboveOf(address)) ? slot.number : 0;
  }
  void set(const void *address, uint32_t number) {
    slotOf(address) = {aboveOf(address), number};
  }

private:
  // Of an address: its place in 16 bytes, and the slot. Two that begin in the
  // same 16 bytes, which few do, take each other's.
  static constexpr unsigned alignBits = 4;
  static constexpr size_t size = size_t(1) << sizeBits;
  struct Slot {
    /// What the place of the slot does not tell of the address.
    uint32_t above;
    uint32_t number;
  };
  struct Free {
    void operator()(void *memory) const { free(memory); }
  };

  static uint32_t aboveOf(const void *address) {
    auto number = reinterpret_cast<uintptr_t>(address);
    return number >> (alignBits + sizeBits) << alignBits |
           (number & ((1 << alignBits) - 1));
  }
  Slot &slotOf(const void *address) {
    if (LLVM_UNLIKELY(!slots || epoch != contextsEpoch()))
      forget();
    return slots[(reinterpret_cast<uintptr_t>(address) >> alignBits) % size];
  }
  void forget() {
    // The system gives the memory when it is written to first.
    slots.reset(static_cast<Slot *>(calloc(size, sizeof(Slot))));
    if (!slots)
      llvm::report_bad_alloc_error("actiondbg: no memory for a recording");
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
    Slot &slot = slots[spread(text.data()) % 256];
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
