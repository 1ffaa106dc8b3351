//===- Memo.h - Caches keyed by names ---------------------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"
#include "llvm/Support/xxhash.h"

namespace adbg {

/// Counts of created and destroyed contexts, and of contexts and pattern sets,
/// which own names. A change means that a cached address may have been reused.
/// Never 0, which marks an empty slot of a memo.
struct Epochs {
  std::atomic<unsigned> contexts{1}, names{1};
};
inline Epochs epochs;

inline unsigned namesEpoch() {
  return epochs.names.load(std::memory_order_acquire);
}
inline unsigned contextsEpoch() {
  return epochs.contexts.load(std::memory_order_acquire);
}
/// Called when a set of patterns is created.
inline void forgetNames() { ++epochs.names; }
/// Called when a context is created or destroyed.
inline void forgetContexts() {
  ++epochs.contexts;
  forgetNames();
}

/// Hashes an address.
inline uintptr_t spread(const void *name) {
  auto address = reinterpret_cast<uintptr_t>(name);
  return (address >> 3) ^ (address >> 11);
}

/// A cache of answers about names, keyed by the address of the name: actions
/// use the same few names repeatedly, and hashing the text would cost more than
/// everything else. Names with similar addresses share a few slots; a new one
/// evicts the oldest. A pass may create a set of patterns for each function, so
/// a new set does not clear the cache: instead the text is compared once.
template <typename Answer> class Memo {
public:
  template <typename Compute>
  LLVM_ATTRIBUTE_ALWAYS_INLINE const Answer &get(StringRef name,
                                                 Compute compute) {
    Slot *first = slotsOf(name.data());
    unsigned now = namesEpoch();
    if (LLVM_LIKELY(first->isOf(name.data(), name.size()) &
                    (first->epoch == now)))
      return first->answer;
    return find(first, name, now, compute);
  }

private:
  static constexpr unsigned ways = 4;
  static constexpr size_t slotCount = size_t(256) * ways;
  struct Slot {
    const void *begin = nullptr;
    uint32_t size = 0;
    /// The epoch in which the answer was valid; 0 for an empty slot.
    uint32_t epoch = 0;
    uint64_t hash = 0;
    Answer answer = Answer();

    bool isOf(const void *key, size_t length) const {
      return (begin == key) & (size == length); // branch-free
    }
  };

  LLVM_ATTRIBUTE_ALWAYS_INLINE Slot *slotsOf(const void *begin) {
    if (LLVM_UNLIKELY(!slots))
      slots.reset(new Slot[slotCount]);
    return &slots[spread(begin) % 256 * ways];
  }
  /// Returns the slot of a cached name; null if there is none.
  static Slot *known(Slot *first, const void *begin, size_t size) {
    for (Slot *slot = first; slot != first + ways; ++slot) {
      if (!slot->isOf(begin, size) || !slot->epoch)
        continue;
      // The next lookup finds it at once. A text must keep its address.
      if constexpr (std::is_trivially_copyable_v<Answer>)
        return std::swap(*first, *slot), first;
      return slot;
    }
    return nullptr;
  }
  /// Inserts a slot at the front and evicts the oldest.
  static Slot *take(Slot *first, Slot made) {
    std::move_backward(first, first + ways - 1, first + ways);
    *first = std::move(made);
    return first;
  }

  template <typename Compute>
  LLVM_ATTRIBUTE_NOINLINE static const Answer &
  find(Slot *first, StringRef name, unsigned now, Compute compute) {
    Slot *slot = known(first, name.data(), name.size());
    if (slot && slot->epoch == now)
      return slot->answer;
    uint64_t hash = llvm::xxh3_64bits(name);
    if (slot && slot->hash != hash)
      slot->answer = compute();
    else if (!slot)
      slot = take(first, {name.data(), static_cast<uint32_t>(name.size()), now,
                          hash, compute()});
    slot->epoch = now;
    slot->hash = hash;
    return slot->answer;
  }

  std::unique_ptr<Slot[]> slots;
};

/// A cache keyed by the address of an object that a context owns; its answers
/// may be extended.
template <typename Answer> class KeyMemo {
public:
  template <typename Compute>
  LLVM_ATTRIBUTE_ALWAYS_INLINE Answer &get(const void *key, Compute compute) {
    if (LLVM_UNLIKELY(!slots))
      slots.reset(new Slot[slotCount]);
    Slot *first = &slots[spread(key) % 256 * ways];
    unsigned now = contextsEpoch();
    if (LLVM_LIKELY((first->key == key) & (first->epoch == now)))
      return first->answer;
    return find(first, key, now, compute);
  }

private:
  static constexpr unsigned ways = 4;
  static constexpr size_t slotCount = size_t(256) * ways;
  struct Slot {
    const void *key = nullptr;
    /// The epoch in which the answer was valid; 0 for an empty slot.
    uint32_t epoch = 0;
    Answer answer = Answer();
  };

  template <typename Compute>
  LLVM_ATTRIBUTE_NOINLINE static Answer &find(Slot *first, const void *key,
                                              unsigned now, Compute compute) {
    for (Slot *slot = first; slot != first + ways; ++slot)
      if (slot->key == key && slot->epoch == now)
        return slot->answer;
    // Insert at the front and evict the oldest.
    std::move_backward(first, first + ways - 1, first + ways);
    *first = {key, now, compute()};
    return first->answer;
  }

  std::unique_ptr<Slot[]> slots;
};

/// The latest answer about an object that a context owns, by its address.
template <typename Answer> class LastAnswer {
public:
  template <typename Compute>
  LLVM_ATTRIBUTE_ALWAYS_INLINE Answer get(const void *key, Compute compute) {
    unsigned now = contextsEpoch();
    if (LLVM_UNLIKELY((key != lastKey) | (epoch != now))) {
      answer = compute();
      lastKey = key;
      epoch = now;
    }
    return answer;
  }

private:
  const void *lastKey = nullptr;
  unsigned epoch = 0;
  Answer answer = Answer();
};

} // namespace adbg
