// An allocator whose lock another thread holds when the process forks: nothing
// releases it in the child, which waits for it without end.

#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static pid_t owner;

static void lock(void) {
  if (!owner)
    owner = getpid();
  while (getpid() != owner)
    pause();
}

void *malloc(size_t size) {
  lock();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  lock();
  return __libc_calloc(count, size);
}

void *realloc(void *at, size_t size) {
  lock();
  return __libc_realloc(at, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  lock();
  return __libc_memalign(alignment, size);
}

void free(void *at) {
  lock();
  __libc_free(at);
}
