#include "Calls.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

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
  char end[64];
  char *out = appendText(end, end + sizeof end, "' could not be counted (");
  if (error == EACCES || error == EPERM)
    out = appendText(out, end + sizeof end, "permission denied");
  else if (error == EMFILE)
    out = appendText(out, end + sizeof end, "too many open files");
  else if (error == 0)
    out = appendText(out, end + sizeof end, "too few counters");
  else
    out = appendText(out, end + sizeof end, "no such counter here");
  appendText(out, end + sizeof end, ").");
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

void openCounters(struct Counters *counters) {
  uint32_t count = settings.eventCount;
  while (!start(counters, count)) {
    closeCounters(counters);
    noteRefused(--count, 0);
  }
}

void closeCounters(struct Counters *counters) {
  while (counters->opened)
    syscall(SYS_close, counters->descriptors[--counters->opened]);
}

bool readCounters(const struct Counters *counters, struct Values *values) {
  long wanted = (long)(sizeof(uint64_t) * (1 + counters->opened));
  return syscall(SYS_read, counters->descriptors[0], values, wanted) == wanted;
}
