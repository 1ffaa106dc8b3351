/* An allocator whose every block has a mark: it ends the process where a block
   of another allocator is given to it. The functions of C++ are its own, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct header {
  size_t size;
  uint64_t mark;
};
static const uint64_t mark = 0x616c6c6f63617465;
static char *next, *end;
static int lock;

void *memalign(size_t alignment, size_t size) {
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
    ;
  if (!next) {
    size_t all = (size_t)1 << 36;
    next = mmap(0, all, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    end = next + all;
  }
  if (alignment < 16)
    alignment = 16;
  uintptr_t at = (uintptr_t)next + sizeof(struct header);
  at = (at + alignment - 1) / alignment * alignment;
  next = (char *)at + (size + 15) / 16 * 16;
  __atomic_clear(&lock, __ATOMIC_RELEASE);
  if (next > end)
    abort();
  ((struct header *)at)[-1] = (struct header){size, mark};
  return (void *)at;
}

static struct header *header_of(void *memory) {
  struct header *header = (struct header *)memory - 1;
  if (header->mark != mark)
    abort();
  return header;
}

void *malloc(size_t size) { return memalign(16, size); }
void free(void *memory) {
  if (memory)
    header_of(memory)->size = 0;
}
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *memory, size_t size) {
  void *larger = malloc(size);
  if (memory) {
    size_t old = header_of(memory)->size;
    memcpy(larger, memory, old < size ? old : size);
    free(memory);
  }
  return larger;
}
void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return 0;
}
size_t malloc_usable_size(void *memory) {
  return memory ? header_of(memory)->size : 0;
}

void *_Znwm(size_t size) { return malloc(size); }
void *_Znam(size_t size) { return malloc(size); }
void *_ZnwmSt11align_val_t(size_t size, size_t alignment) {
  return memalign(alignment, size);
}
void _ZdlPv(void *memory) { free(memory); }
void _ZdaPv(void *memory) { free(memory); }
void _ZdlPvm(void *memory, size_t size) { free(memory); }
void _ZdaPvm(void *memory, size_t size) { free(memory); }
void _ZdlPvSt11align_val_t(void *memory, size_t alignment) { free(memory); }
void _ZdlPvmSt11align_val_t(void *memory, size_t size, size_t alignment) {
  free(memory);
}
