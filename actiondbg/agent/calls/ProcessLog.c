#include "Calls.h"

struct Image *image;
char problem[MaxPath];
int problemError;
char processID[64];

static char namesPath[MaxPath];

static uint32_t names;
static long owner;
static bool failed;

char *appendTexts(char *out, const char *end, ...) {
  va_list texts;
  va_start(texts, end);
  for (const char *text; (text = va_arg(texts, const char *));)
    while (*text && out + 1 < end)
      *out++ = *text++;
  va_end(texts);
  *out = 0;
  return out;
}

char *appendNumber(char *out, const char *end, uint64_t number) {
  char digits[24];
  char *first = digits + sizeof digits;
  *--first = 0;
  do {
    *--first = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  return appendTexts(out, end, first, NULL);
}

void startProcess(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  // A fork that wrote to the files of its parent would destroy them.
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
    appendTexts(problem, problem + sizeof problem,
                "the kernel is older than Linux 4.14", NULL);
    munmap(page, 4096);
    return;
  }
  image = page;
}

void lock(void) {
  while (__atomic_exchange_n(&image->lock, 1, __ATOMIC_ACQUIRE))
    syscall(SYS_sched_yield);
}

void unlock(void) { __atomic_store_n(&image->lock, 0, __ATOMIC_RELEASE); }

int createFile(const char *prefix, const char *suffix, char path[MaxPath]) {
  const char *end = path + MaxPath;
  char *stem =
      appendTexts(path, end, settings.directory, "/", prefix, "-", NULL);
  for (uint64_t serial = 0; serial < 1u << 20; ++serial) {
    appendTexts(appendNumber(stem, end, serial), end, suffix, NULL);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path,
                            O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

/// Creates a folder of its own for standalone counting.
static bool createDirectory(void) {
  const char *end = settings.directory + MaxPath;
  char *stem =
      appendTexts(settings.directory, end, "/tmp/actiondbg-calls-", NULL);
  stem = appendNumber(stem, end, (uint64_t)syscall(SYS_getpid));
  stem = appendTexts(stem, end, "-", NULL);
  for (uint64_t serial = 0; serial < 1u << 20; ++serial) {
    appendNumber(stem, end, serial);
    if (syscall(SYS_mkdirat, AT_FDCWD, settings.directory, 0700) == 0) {
      owner = syscall(SYS_getpid);
      return true;
    }
    if (errno != EEXIST)
      break;
  }
  return false;
}

bool ownsDirectory(void) { return owner == syscall(SYS_getpid); }

static bool fail(const char *file) {
  failed = true;
  problemError = errno;
  appendTexts(problem, problem + sizeof problem, file, NULL);
  return false;
}

/// Copies the names of the process that was forked: its functions are ours.
static bool copyNames(const char *from, int file) {
  int parent = (int)syscall(SYS_openat, AT_FDCWD, from, O_RDONLY | O_CLOEXEC);
  if (parent < 0)
    return false;
  char buffer[4096];
  long size;
  while ((size = syscall(SYS_read, parent, buffer, sizeof buffer)) > 0)
    if (syscall(SYS_write, file, buffer, size) != size)
      size = -2;
  syscall(SYS_close, parent);
  return size == 0;
}

static bool writeEvents(int file) {
  char line[4096];
  // The last byte is for the end of the line.
  const char *end = line + sizeof line - 1;
  char *out = appendTexts(line, end, "events", NULL);
  for (uint32_t i = 0; i < settings.eventCount; ++i)
    out = appendTexts(out, end, "\t", settings.events[i].name, NULL);
  *out++ = '\n';
  long size = out - line;
  return syscall(SYS_write, file, line, size) == size;
}

static bool createNames(void) {
  static char path[MaxPath];
  char prefix[32];
  appendNumber(prefix, prefix + sizeof prefix, (uint64_t)syscall(SYS_getpid));
  int file = createFile(prefix, ".names", path);
  if (file < 0)
    return fail(path);
  bool done = *namesPath ? copyNames(namesPath, file) : writeEvents(file);
  syscall(SYS_close, file);
  if (!done)
    return fail(path);
  appendTexts(namesPath, namesPath + MaxPath, path, NULL);
  // The ID is the file's name without its suffix.
  const char *name = path;
  for (const char *at = path; *at; ++at)
    if (*at == '/')
      name = at + 1;
  char *out = appendTexts(processID, processID + sizeof processID, name, NULL);
  out[-(long)(sizeof ".names" - 1)] = 0;
  return true;
}

bool openProcess(void) {
  if (!image || failed)
    return false;
  if (__atomic_load_n(&image->token, __ATOMIC_ACQUIRE))
    return true;
  int before = errno;
  lock();
  bool done =
      image->token ||
      ((*settings.directory || createDirectory() || fail(settings.directory)) &&
       createNames());
  if (done)
    __atomic_store_n(&image->token, 1 + (uint64_t)syscall(SYS_getpid),
                     __ATOMIC_RELEASE);
  unlock();
  errno = before;
  return done;
}

/// Appends to a file; lines of several threads do not mix.
static void appendLine(const char *path, const char *line, size_t size) {
  int file = (int)syscall(SYS_openat, AT_FDCWD, path,
                          O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  (void)syscall(SYS_write, file, line, size);
  syscall(SYS_close, file);
}

/// Appends a name without what separates fields and lines.
static char *appendName(char *out, const char *end, const char *name) {
  for (; *name && out + 1 < end; ++name)
    *out++ = (unsigned char)*name < ' ' ? '?' : *name;
  *out = 0;
  return out;
}

uint32_t addName(const char *library, const char *name, bool counted) {
  char line[2048];
  // The last byte is for the end of the line.
  const char *end = line + sizeof line - 1;
  char *out = appendNumber(line, end, names);
  out = appendTexts(out, end, counted ? "\t1\t" : "\t0\t", NULL);
  out = appendName(out, end, library);
  out = appendTexts(out, end, "\t", NULL);
  out = appendName(out, end, name);
  *out++ = '\n';
  appendLine(namesPath, line, (size_t)(out - line));
  return names++;
}

void addNote(const char *sentence, const char *detail, const char *close) {
  char path[MaxPath], line[1024];
  const char *end = path + sizeof path;
  appendTexts(path, end, settings.directory, "/", processID, ".notes", NULL);
  end = line + sizeof line - 1;
  char *out = appendTexts(line, end, sentence, NULL);
  out = appendName(out, end, detail);
  out = appendTexts(out, end, close, NULL);
  *out++ = '\n';
  appendLine(path, line, (size_t)(out - line));
}
