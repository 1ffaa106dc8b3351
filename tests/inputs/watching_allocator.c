// Writes to the file $WATCH_FILE what the agent allocates of the tool's
// allocator.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static __thread int isInside;

static void note(const char *line) {
  int fd = open(getenv("WATCH_FILE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                0644);
  int length = strlen(line);
  if (fd < 0 || write(fd, line, length) != length)
    abort();
  close(fd);
}

static int isOf(const Dl_info *info, const char *name) {
  const char *slash = strrchr(info->dli_fname, '/');
  return strncmp(slash ? slash + 1 : info->dli_fname, name, strlen(name)) == 0;
}

// Finds the nearest caller that is no library of C or C++.
static void look(size_t size) {
  if (isInside)
    return;
  isInside = 1;
  void *frames[12];
  int count = backtrace(frames, 12);
  Dl_info info;
  for (int at = 1; at < count && dladdr(frames[at], &info) && info.dli_fname;
       ++at) {
    if (isOf(&info, "libc.") || isOf(&info, "libstdc++.") ||
        isOf(&info, "ld-") || isOf(&info, "watching_allocator."))
      continue;
    if (isOf(&info, "agent.so")) {
      char line[100];
      sprintf(line, "%zu bytes at agent.so+0x%lx\n", size,
              (char *)frames[at] - (char *)info.dli_fbase);
      note(line);
    }
    break;
  }
  isInside = 0;
}

__attribute__((constructor)) static void begin(void) {
  void *frames[2];
  isInside = 1;
  backtrace(frames, 2); // the first call allocates
  isInside = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  while (maps && fgets(line, sizeof(line), maps))
    if (strstr(line, "/agent.so")) {
      note("watching agent.so\n");
      break;
    }
  if (maps)
    fclose(maps);
}

void *malloc(size_t size) {
  look(size);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  look(count * size);
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  look(size);
  return __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) {
  look(size);
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  return (*memory = memalign(alignment, size)) == NULL;
}
