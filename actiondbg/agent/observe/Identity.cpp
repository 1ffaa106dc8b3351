#include "observe/Identity.h"

#include "support/ExitAtOnce.h"

namespace adbg {

bool Identities::finds = true;
__thread Identities::ThreadState Identities::local;
constinit Identities ids;

/// Zeroed memory at a multiple of `alignment`; the kernel maps a page at its
/// first write.
static void *takeMemory(size_t bytes, size_t alignment) {
  size_t mapped = bytes + alignment;
  void *taken = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (taken == MAP_FAILED)
    endWithoutMemory("actiondbg: no memory for operations");
  auto *begin = static_cast<char *>(taken);
  size_t before = -reinterpret_cast<uintptr_t>(begin) & (alignment - 1);
  if (before)
    munmap(begin, before);
  munmap(begin + before + bytes, alignment - before);
  return begin + before;
}

template <typename Inner, unsigned first, unsigned last>
Inner *Identities::Level<Inner, first, last>::need(uintptr_t key) {
  Inner *there = get(key);
  if (there)
    return there;
  auto *made = static_cast<Inner *>(takeMemory(sizeof(Inner), alignof(Inner)));
  if (entries[indexOf(key)].compare_exchange_strong(there, made))
    return made;
  munmap(made, sizeof(Inner));
  return there;
}

void Identities::prepare(Operation *op) {
  local.key = addressOf(op) >> tableBit;
  local.table = root.need(local.key)->need(local.key);
  (void)upcoming();
}

uint32_t &Identities::findEntry(const Operation *op) const {
  uintptr_t key = addressOf(op) >> tableBit;
  Region *region = root.get(key);
  Table *table = region ? region->get(key) : nullptr;
  local.none = 0;
  if (!table)
    return local.none;
  local.key = key;
  local.table = table;
  return table->numbers[slotOf(op)];
}

void Identities::Table::reserved() {
  // About 10,000 operations: fewer are not worth 2 MiB.
  constexpr uint32_t many = 160;
  // MADV_COLLAPSE of Linux 6.1. An older one refuses it, and nothing is lost.
  constexpr int collapse = 25;
  if (reservations.fetch_add(1, std::memory_order_relaxed) == many)
    madvise(numbers, sizeof(numbers), collapse);
}

/// A small block at a time: renew() discards the unused rest of it.
void Identities::reserveIds() {
  constexpr uint32_t many = 64;
  if (local.table)
    local.table->reserved();
  local.next = given.fetch_add(many);
  local.end = local.next + many;
}

template <typename See> void Identities::forEachTable(See see) const {
  for (uintptr_t high = 0; high < root.size; ++high) {
    Region *region = root.entries[high];
    for (uintptr_t low = 0; region && low < region->size; ++low)
      if (Table *table = region->entries[low])
        see(*table, (high << regionBit) + (low << tableBit));
  }
}

Operation *Identities::find(uint32_t id) const {
  uintptr_t found = 0;
  forEachTable([&](const Table &table, uintptr_t begin) {
    for (uintptr_t slot = 0; id && !found && slot < slots; ++slot)
      if (table.numbers[slot] >> bits == id)
        found = begin + (slot << slotBit) + table.offsets[slot];
  });
  return reinterpret_cast<Operation *>(found);
}

void Identities::clear() {
  forEachTable([](Table &table, uintptr_t) {
    // The kernel maps zeroed pages again when they are used.
    madvise(&table, sizeof(table), MADV_DONTNEED);
  });
  given = 1;
  renew();
}

size_t Identities::bytes() const {
  size_t sum = sizeof(*this);
  forEachTable([&](const Table &table, uintptr_t) {
    // Pages without operations are not counted: they take no memory.
    for (ArrayRef<uint32_t> rest = table.numbers; !rest.empty();
         rest = rest.drop_front(1024))
      if (std::ranges::any_of(rest.take_front(1024),
                              [](uint32_t one) { return one; }))
        sum += 1024 * (sizeof(uint32_t) + finds);
  });
  return sum;
}

} // namespace adbg
