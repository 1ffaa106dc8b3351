//===- Pointers.cpp - Pointers to functions in tables ---------------------===//

#include "detour/Pointers.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace adbg::detour {

void redirectPointers(const LoadedObject &object,
                      std::vector<Redirection> redirections) {
  uint64_t page = sysconf(_SC_PAGESIZE);
  // What the loader makes read-only is whole pages.
  uint64_t begin = (object.constantsBegin + page - 1) / page * page;
  uint64_t end = object.constantsEnd / page * page;
  if (begin >= end || redirections.empty())
    return;
  auto isBefore = [](const Redirection &a, const Redirection &b) {
    return a.from < b.from;
  };
  std::sort(redirections.begin(), redirections.end(), isBefore);
  auto *memory = reinterpret_cast<void *>(begin);
  bool isWritable = false;
  uint64_t first = redirections.front().from, last = redirections.back().from;
  for (auto *word = reinterpret_cast<uint64_t *>(begin);
       word < reinterpret_cast<uint64_t *>(end); ++word) {
    if (__builtin_expect(*word < first || *word > last, true))
      continue;
    auto it = std::lower_bound(redirections.begin(), redirections.end(),
                               Redirection{*word, 0}, isBefore);
    if (it == redirections.end() || it->from != *word)
      continue;
    if (!isWritable &&
        mprotect(memory, end - begin, PROT_READ | PROT_WRITE) != 0)
      return;
    isWritable = true;
    *word = it->to;
  }
  if (isWritable)
    mprotect(memory, end - begin, PROT_READ);
}

} // namespace adbg::detour
