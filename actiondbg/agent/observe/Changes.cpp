//===- Changes.cpp - The change log ---------------------------------------===//

#include "observe/Changes.h"

namespace adbg {

StringRef textOf(ChangeKind kind) {
  static const char *const texts[changeKinds] = {
      "inserted", "erased", "replaced", "modified", "moved"};
  return texts[static_cast<unsigned>(kind)];
}

void ChangeLog::add(Change change) {
  if (held.size() == most) {
    held.erase(held.begin(), held.begin() + most / 2);
    dropped += most / 2;
  }
  held.push_back(std::move(change));
}

} // namespace adbg
