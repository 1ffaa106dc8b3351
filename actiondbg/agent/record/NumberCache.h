//===- NumberCache.h - Caches of recorded numbers ---------------*- C++ -*-===//
//
// A thread's recorder numbers locations and texts. An entry that was evicted
// gets a new number, which readers accept; therefore the memory is bounded.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/Memo.h"
#include "llvm/Support/ErrorHandling.h"

namespace adbg {

/// The numbers of objects that a context owns: locations, names. Neighbours in
/// memory, which usually are neighbours in the source, are neighbours in this
/// table: scattering them would slow the tool by several percent, through page
/// faults and cache misses.
template <unsigned sizeBits> class AddressNumbers {
public:
  /// Returns the number of the object at `address`; 0 if there is none.
  uint32_t find(const void *address) {
    const Slot &slot = slotOf(address);
    return LLVM_LIKELY(slot.above == aboveOf(address)) ? slot.number : 0;
  }
  void set(const void *address, uint32_t number) {
    slotOf(address) = {aboveOf(address), number};
  }

private:
  // The bits of an address: offset within 16 bytes, then the slot. Two objects
  // within the same 16 bytes, which are rare, evict each other.
  static constexpr unsigned alignBits = 4;
  static constexpr size_t size = size_t(1) << sizeBits;
  struct Slot {
    /// The bits of the address above the slot index.
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
    // calloc: the kernel maps a page at its first write.
    slots.reset(static_cast<Slot *>(calloc(size, sizeof(Slot))));
    if (!slots)
      llvm::report_bad_alloc_error("actiondbg: no memory for a recording");
    epoch = contextsEpoch();
  }

  std::unique_ptr<Slot[], Free> slots;
  unsigned epoch = 0;
};

/// The numbers of texts that are reported repeatedly from the same address:
/// comparing them is faster than hashing them.
class TextNumbers {
public:
  template <typename Compute> uint32_t get(StringRef text, Compute compute) {
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
