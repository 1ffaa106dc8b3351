//===- SymbolSet.cpp - Wanted symbols -------------------------------------===//

#include "detour/SymbolSet.h"

namespace adbg::detour {

static uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

size_t &SymbolSet::slotOf(std::string_view name) {
  size_t mask = slots.size() - 1;
  size_t at = hashOf(name) & mask;
  while (slots[at] != none && names[slots[at]] != name)
    at = (at + 1) & mask;
  return slots[at];
}

void SymbolSet::grow() {
  slots.assign(slots.empty() ? 256 : slots.size() * 2, none);
  for (size_t i = 0; i < names.size(); ++i)
    slotOf(names[i]) = i;
}

size_t SymbolSet::add(std::string_view name) {
  // Few names for each slot: most of what is looked up is not there.
  if (slots.size() < (names.size() + 1) * 8)
    grow();
  size_t &slot = slotOf(name);
  if (slot == none) {
    slot = names.size();
    names.push_back(name);
  }
  return slot;
}

size_t SymbolSet::find(std::string_view name) const {
  return slots.empty() ? none : const_cast<SymbolSet *>(this)->slotOf(name);
}

uint64_t SymbolSet::hash() const {
  uint64_t hash = names.size();
  for (std::string_view name : names)
    hash = (hash ^ hashOf(name)) * 0x9e3779b97f4a7c15;
  return hash;
}

} // namespace adbg::detour
