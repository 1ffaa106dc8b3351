//===- Identity.cpp - The identity of an operation for its life
//------------------===//

#include "Identity.h"

using namespace mlir;

namespace adbg {

bool Identities::isShared = false;
thread_local uintptr_t Identities::newestKey = 0;
thread_local Identities::Table *Identities::newest = nullptr;
thread_local Identities::Numbers Identities::mine = {};

Identities &Identities::all() {
  // Never destroyed: the tool may end operations in static destructors.
  static Identities *identities = new Identities;
  return *identities;
}

template <typename Inner, unsigned size>
Inner *Identities::Level<Inner, size>::need(uintptr_t index) {
  Inner *there = entries[index].load(std::memory_order_acquire);
  if (there)
    return there;
  auto *made = new Inner;
  if (entries[index].compare_exchange_strong(there, made))
    return made;
  delete made;
  return there;
}

Identities::Page *Identities::addPage(Operation *op) {
  uintptr_t key = addressOf(op) >> 21;
  newest = root.need((key >> 13) & 8191)->need(key & 8191);
  newestKey = key;
  return newest->need((addressOf(op) >> 12) & 511);
}

void Identities::drop(Operation *op) {
  delete tableOf(op)->entries[(addressOf(op) >> 12) & 511].exchange(nullptr);
}

/// Few at a time, as those that a thread has left are lost when it renews.
void Identities::takeMore() {
  constexpr uint32_t many = 64;
  mine.next = given.fetch_add(many);
  mine.end = mine.next + many;
}

Operation *Identities::find(uint32_t id) const {
  for (uintptr_t high = 0; high < 8192 && id; ++high) {
    Region *region = root.entries[high];
    for (uintptr_t low = 0; region && low < 8192; ++low) {
      Table *table = region->entries[low];
      for (uintptr_t i = 0; table && i < 512; ++i) {
        Page *page = table->entries[i];
        for (uintptr_t slot = 0; page && slot < 64; ++slot)
          if (page->numbers[slot] >> bits == id)
            return reinterpret_cast<Operation *>((high << 34) + (low << 21) +
                                                 (i << 12) + (slot << 6) +
                                                 page->offsets[slot]);
      }
    }
  }
  return nullptr;
}

size_t Identities::bytes() const {
  size_t sum = sizeof(*this);
  for (const std::atomic<Region *> &inner : root.entries) {
    Region *region = inner;
    sum += region ? sizeof(Region) : 0;
    for (unsigned low = 0; region && low < 8192; ++low) {
      Table *table = region->entries[low];
      sum += table ? sizeof(Table) : 0;
      for (unsigned i = 0; table && i < 512; ++i)
        sum += table->entries[i].load() ? sizeof(Page) : 0;
    }
  }
  return sum;
}

} // namespace adbg
