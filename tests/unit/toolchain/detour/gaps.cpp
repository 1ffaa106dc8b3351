// Prints the free places that are found near an object, in maps made for it.
#include "detour/Detour.h"

#include <cinttypes>
#include <cstring>

using adbg::detour::nearestGap;

/// What a process of x86-64 and one of aarch64 can map.
static constexpr uint64_t lowEnd = 1ull << 47, highEnd = 1ull << 48;
/// What a jump reaches.
static constexpr int64_t near = 1 << 27;

static void find(const char *what, const char *text, uint64_t begin,
                 uint64_t end, uint64_t size, uint64_t most = lowEnd) {
  FILE *maps = fmemopen(const_cast<char *>(text), strlen(text), "r");
  uint64_t place = nearestGap(maps, begin, end, size, near, most);
  fclose(maps);
  printf("%s: %" PRIx64 "\n", what, place);
}

int main() {
  const char *low =
      "555555353000-555555554000 r-xp 00000000 00:00 0 /usr/bin/other name\n"
      "555555555000-555555756000 r-xp 00000000 00:00 0 /usr/bin/tool\n"
      "555555858000-555555859000 rw-p 00000000 00:00 0 [heap]\n";
  find("below", low, 0x555555555000, 0x555555756000, 0x1000);
  find("above", low, 0x555555555000, 0x555555756000, 0x102000);
  find("farther", low, 0x555555555000, 0x555555756000, 0x103000);
  const char *full =
      "000000010000-7ffffffff000 r-xp 00000000 00:00 0 /usr/bin/tool\n";
  find("no room", full, 0x10000, 0x7ffffffff000, 0x2000);
  const char *far =
      "555540000000-555555000000 r-xp 00000000 00:00 0 /usr/bin/before\n"
      "555555000000-555556000000 r-xp 00000000 00:00 0 /usr/bin/tool\n"
      "555556000000-555570000000 r-xp 00000000 00:00 0 /usr/bin/after\n";
  find("out of reach", far, 0x555555000000, 0x555556000000, 0x1000);
  const char *high =
      "aaaaaaaaa000-aaaaab000000 r-xp 00000000 00:00 0 /usr/bin/tool\n"
      "fffff7a00000-fffff7b00000 r-xp 00000000 00:00 0 /lib/libMLIR.so\n"
      "ffffff000000-1000000000000 rw-p 00000000 00:00 0 [stack]\n";
  find("high", high, 0xaaaaaaaaa000, 0xaaaaab000000, 0x1000, highEnd);
  find("highest", high, 0xfffff7a00000, 0xfffff7b00000, 0x1000, highEnd);
  const char *last =
      "ffffffeff000-fffffffff000 r-xp 00000000 00:00 0 /lib/libMLIR.so\n";
  find("last", last, 0xffffffeff000, 0xfffffffff000, 0x1000, highEnd);
}
