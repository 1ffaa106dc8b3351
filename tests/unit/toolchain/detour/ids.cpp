// Prints ids of operations at addresses made up for it, and what is found.
#include "observe/Identity.cpp"

#include <cinttypes>
#include <cstdio>

using adbg::ids;

static mlir::Operation *at(uint64_t address) {
  return reinterpret_cast<mlir::Operation *>(address);
}

int main() {
  const uint64_t places[] = {0x555555559040, 0x2aaaaaaab040, 0xaaaaaaaab040,
                             0x7ffff0000048, 0xfffff0000048, 0xffffffffffc0};
  for (uint64_t place : places)
    ids.created(at(place));
  for (uint64_t place : places) {
    uint32_t id = ids.of(at(place));
    printf("%u %" PRIx64 " %d\n", id, place, ids.find(id) == at(place));
  }
  uint32_t gone = ids.destroyed(at(0xaaaaaaaab040)).id;
  printf("destroyed: %u, then %u\n", gone, ids.of(at(0xaaaaaaaab040)));
}
