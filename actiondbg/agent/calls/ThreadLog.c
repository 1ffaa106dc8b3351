#include "Calls.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

//===----------------------------------------------------------------------===//
// The event counters of a thread
//
// One group of perf_event_open(2), read with one system call. Restricted to
// system calls, as the log of a thread.
//===----------------------------------------------------------------------===//

struct Counters {
  int descriptors[MaxEvents];
  uint32_t opened;
  /// A bit for each event of the settings that is counted, and for each that is
  /// counted outside the kernel only.
  uint32_t mask, userMask;
};

// Programs that close or reuse all small descriptors do not meet ours there.
enum { FirstDescriptor = 500 };

// One note for each event of the process, not one for each thread.
static uint32_t noted;

static int openEvent(const struct Event *event, bool userOnly, int leader) {
  struct perf_event_attr attributes = {0};
  attributes.size = sizeof attributes;
  attributes.type = event->type;
  attributes.config = event->config;
  attributes.read_format = PERF_FORMAT_GROUP;
  attributes.disabled = leader < 0;
  attributes.pinned = leader < 0 && event->type != PERF_TYPE_SOFTWARE;
  attributes.exclude_kernel = userOnly;
  attributes.exclude_hv = 1;
  int opened = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader,
                            PERF_FLAG_FD_CLOEXEC);
  if (opened < 0)
    return opened;
  int moved = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, FirstDescriptor);
  if (moved < 0)
    return opened;
  syscall(SYS_close, opened);
  return moved;
}

static void noteRefused(uint32_t index, int error) {
  uint32_t bit = 1u << index;
  if (__atomic_fetch_or(&noted, bit, __ATOMIC_RELAXED) & bit)
    return;
  const char *why = "no such counter here";
  if (error == EACCES || error == EPERM)
    why = "permission denied";
  else if (error == EMFILE)
    why = "too many open files";
  else if (error == 0)
    why = "too few counters";
  char end[64];
  appendTexts(end, end + sizeof end, "' could not be counted (", why, ").",
              NULL);
  addNote("'", settings.events[index].name, end);
}

/// Adds an event to the group; 0 or the error.
static int add(struct Counters *counters, uint32_t index) {
  const struct Event *event = &settings.events[index];
  int leader = counters->opened ? counters->descriptors[0] : -1;
  bool userOnly = event->userOnly;
  int opened = openEvent(event, userOnly, leader);
  if (opened < 0 && errno == EACCES && !userOnly) {
    userOnly = true;
    opened = openEvent(event, userOnly, leader);
  }
  if (opened < 0)
    return errno;
  counters->descriptors[counters->opened++] = opened;
  counters->mask |= 1u << index;
  counters->userMask |= (uint32_t)userOnly << index;
  return 0;
}

/// Reads the counters; false if they no longer count.
static bool readCounters(const struct Counters *counters,
                         struct Values *values) {
  long wanted = (long)(sizeof(uint64_t) * (1 + counters->opened));
  return syscall(SYS_read, counters->descriptors[0], values, wanted) == wanted;
}

static void closeCounters(struct Counters *counters) {
  while (counters->opened)
    syscall(SYS_close, counters->descriptors[--counters->opened]);
}

/// Opens the first `count` events of the settings, and starts them together: an
/// event that joins a running group may stay at 0. Returns whether they count.
static bool start(struct Counters *counters, uint32_t count) {
  counters->opened = counters->mask = counters->userMask = 0;
  for (uint32_t i = 0; i < count; ++i) {
    int error = add(counters, i);
    if (error)
      noteRefused(i, error);
  }
  if (!counters->opened)
    return true;
  struct Values values;
  syscall(SYS_ioctl, counters->descriptors[0], PERF_EVENT_IOC_ENABLE, 0);
  // A pinned group without a free counter has no values.
  return readCounters(counters, &values);
}

/// Counts the events of the settings in the calling thread. Events that the
/// kernel refuses are left out and noted.
static void openCounters(struct Counters *counters) {
  uint32_t count = settings.eventCount;
  while (!start(counters, count)) {
    closeCounters(counters);
    noteRefused(--count, 0);
  }
}

//===----------------------------------------------------------------------===//
// The log of a thread
//===----------------------------------------------------------------------===//

enum {
  Version = 1,
  HeaderSize = 4096,
  FirstWindow = 1 << 16,
  LargestWindow = 1 << 22
};

// Half a gigabyte for each thread without events; later calls are lost.
static const uint64_t MostRecords = 1 << 24;

/// The first page of a file; actiondbg/kernels/counting reads it.
struct Header {
  char magic[8];
  uint32_t version, headerSize, recordSize, eventCount;
  uint32_t mask, userMask;
  uint64_t count, lost;
  /// The number of the function that runs, from 1; 0 between calls.
  uint32_t running;
  uint32_t thread;
  char name[16];
};

struct Record {
  uint64_t start, duration;
  uint32_t name, cpu;
  uint64_t values[];
};

struct Log {
  /// The image that the log belongs to; see struct Image in Calls.h.
  uint64_t token;
  bool ready;
  struct Header *header;
  /// The mapped part of the file, and the place of the next record in it.
  char *window, *next, *end;
  /// The offset of the window in the file, and its size.
  uint64_t offset, size;
  uint32_t recordSize;
  struct Counters counters;
  char path[MaxPath];
};

static __thread struct Log *current;
static pthread_key_t ended;
static bool hasKey;

/// Nanoseconds of CLOCK_MONOTONIC.
static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// Reserves the space of a part of a file: writing to a mapping without space
/// on the disk would kill the program.
static bool reserve(int file, uint64_t offset, uint64_t size) {
  if (syscall(SYS_fallocate, file, 0, offset, size) == 0)
    return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    return false;
  char zeros[512];
  for (unsigned i = 0; i < sizeof zeros; ++i)
    zeros[i] = 0;
  for (uint64_t done = 0; done < size; done += sizeof zeros)
    if (syscall(SYS_pwrite64, file, zeros, sizeof zeros, offset + done) !=
        (long)sizeof zeros)
      return false;
  return true;
}

static void *mapFile(int file, uint64_t offset, uint64_t size) {
  void *memory = (void *)syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_POPULATE, file, offset);
  return memory == MAP_FAILED ? NULL : memory;
}

/// Maps the next part of the file. The file is opened again each time: the
/// program may have closed our descriptor and reused its number.
static bool grow(struct Log *log) {
  uint64_t position = log->window
                          ? log->offset + (uint64_t)(log->next - log->window)
                          : HeaderSize;
  uint64_t offset = position & ~(uint64_t)4095;
  uint64_t size = log->size * 2;
  if (size < FirstWindow)
    size = FirstWindow;
  if (size > LargestWindow)
    size = LargestWindow;
  int file =
      (int)syscall(SYS_openat, AT_FDCWD, log->path, O_RDWR | O_CLOEXEC, 0);
  if (file < 0)
    return false;
  char *window = reserve(file, offset, size) ? mapFile(file, offset, size) : 0;
  syscall(SYS_close, file);
  if (!window)
    return false;
  if (log->window)
    syscall(SYS_munmap, log->window, log->size);
  log->window = window;
  log->offset = offset;
  log->size = size;
  log->next = window + (position - offset);
  log->end = window + size;
  return true;
}

static bool create(struct Log *log) {
  uint32_t thread = (uint32_t)syscall(SYS_gettid);
  char prefix[sizeof processID + 32];
  const char *end = prefix + sizeof prefix;
  appendNumber(appendTexts(prefix, end, processID, "-", NULL), end, thread);
  int file = createFile(prefix, ".calls", log->path);
  if (file < 0)
    return false;
  struct Header *header =
      reserve(file, 0, HeaderSize) ? mapFile(file, 0, HeaderSize) : 0;
  syscall(SYS_close, file);
  if (!header)
    return false;
  openCounters(&log->counters);
  log->recordSize = (uint32_t)(sizeof(struct Record) +
                               sizeof(uint64_t) * log->counters.opened);
  header->version = Version;
  header->headerSize = HeaderSize;
  header->recordSize = log->recordSize;
  header->eventCount = log->counters.opened;
  header->mask = log->counters.mask;
  header->userMask = log->counters.userMask;
  header->thread = thread;
  syscall(SYS_prctl, PR_GET_NAME, header->name, 0, 0, 0);
  appendTexts(header->magic, header->magic + sizeof header->magic, "ADBCALL",
              NULL);
  log->header = header;
  return grow(log);
}

/// Returns memory for a log, cleared.
static struct Log *newLog(void) {
  // Memory of its own: malloc may be what the program debugs, and a thread's
  // storage is gone when the last destructors run.
  void *memory =
      (void *)syscall(SYS_mmap, 0, sizeof(struct Log), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/// Opens the log of this thread; NULL if nothing can be counted.
static struct Log *openLog(void) {
  if (!openProcess())
    return NULL;
  int before = errno;
  // In a fork, the log of the parent's thread is left alone: its descriptors
  // may be others by now.
  struct Log *log = current = newLog();
  if (!log)
    return NULL;
  log->token = image->token;
  log->ready = create(log);
  if (!log->ready)
    addNote("A thread's calls are lost, its file could not be written: ",
            log->path, ".");
  __atomic_fetch_add(&image->threads, 1, __ATOMIC_RELAXED);
  if (hasKey)
    pthread_setspecific(ended, log);
  errno = before;
  return log;
}

/// Closes the log of a thread that ends.
static void closeLog(void *argument) {
  struct Log *log = argument;
  if (log == current)
    current = NULL;
  if (image && log->token == image->token) {
    closeCounters(&log->counters);
    if (log->window) {
      uint64_t used = log->offset + (uint64_t)(log->next - log->window);
      munmap(log->window, log->size);
      // What remains is the reserved space.
      if (truncate(log->path, (off_t)used) != 0)
        errno = 0;
    }
    if (log->header)
      munmap(log->header, HeaderSize);
  }
  munmap(log, sizeof *log);
}

void startThreads(void) { hasKey = pthread_key_create(&ended, closeLog) == 0; }

bool beginCall(struct Call *call, uint32_t name) {
  struct Log *log = current;
  if (__builtin_expect(!log || !image || log->token != image->token, 0) &&
      !(log = openLog()))
    return false;
  if (!log->ready)
    return false;
  if (log->counters.opened && !readCounters(&log->counters, &call->values)) {
    log->ready = false;
    addNote("The calls of a thread were counted until its counters were ",
            "closed", ".");
    return false;
  }
  log->header->running = name + 1;
  call->start = now();
  return true;
}

void endCall(const struct Call *call, uint32_t name) {
  uint64_t end = now();
  struct Log *log = current;
  // In a fork within the call.
  if (!log || log->token != image->token)
    return;
  struct Header *header = log->header;
  struct Values values;
  header->running = 0;
  if (log->counters.opened && !readCounters(&log->counters, &values)) {
    log->ready = false;
    return;
  }
  if (__builtin_expect((uint64_t)(log->end - log->next) < log->recordSize, 0)) {
    int before = errno;
    bool more = header->count < MostRecords && grow(log);
    errno = before;
    if (!more) {
      ++header->lost;
      return;
    }
  }
  struct Record *record = (struct Record *)log->next;
  record->start = call->start;
  record->duration = end - call->start;
  record->name = name;
  record->cpu = (uint32_t)sched_getcpu();
  for (uint32_t i = 0; i < log->counters.opened; ++i)
    record->values[i] = values.values[i] - call->values.values[i];
  log->next += log->recordSize;
  // A killed program must not leave a count without its record.
  __atomic_signal_fence(__ATOMIC_RELEASE);
  ++header->count;
}
