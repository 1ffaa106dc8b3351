//===- Identity.cpp - The identity of an operation for its life
//------------------===//

#include "Identity.h"

using namespace mlir;

namespace adbg {

Identities::Page *Identities::addPage(Operation *op) {
  Table *&table = tables[addressOf(op) >> 21];
  if (!table)
    table = new Table;
  Page *&page = table->pages[(addressOf(op) >> 12) & 511];
  if (spare.empty()) {
    page = new Page;
    ++pages;
  } else {
    page = spare.back();
    spare.pop_back();
  }
  return page;
}

void Identities::drop(Operation *op) {
  Page *&page = tableOf(op)->pages[(addressOf(op) >> 12) & 511];
  if (spare.size() < 64) {
    spare.push_back(page);
  } else {
    delete page;
    --pages;
  }
  page = nullptr;
}

Operation *Identities::find(uint32_t id) const {
  for (const auto &[key, table] : tables)
    for (uintptr_t i = 0; i < 512; ++i) {
      const Page *page = table->pages[i];
      for (uintptr_t slot = 0; page && slot < 64; ++slot)
        if (page->numbers[slot] >> 1 == id && id)
          return reinterpret_cast<Operation *>(
              (key << 21) + (i << 12) + (slot << 6) + page->offsets[slot]);
    }
  return nullptr;
}

size_t Identities::bytes() const {
  return tables.getMemorySize() + tables.size() * sizeof(Table) +
         pages * sizeof(Page);
}

} // namespace adbg
