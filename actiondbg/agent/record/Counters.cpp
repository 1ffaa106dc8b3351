#include "record/Counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

namespace adbg {

//===----------------------------------------------------------------------===//
// Configuration
//===----------------------------------------------------------------------===//

struct CountedEvent {
  char name[64];
  uint32_t type;
  uint64_t config;
  bool isUserOnly;
};

static CountedEvent countedEvents[Counters::most];
static unsigned countedSize = 0;

static bool parseEvent(StringRef text, CountedEvent &event) {
  auto [name, code] = text.rsplit('=');
  event.isUserOnly = code.consume_back(":u");
  auto [type, config] = code.split(':');
  if (name.empty() || name.size() >= sizeof(event.name) ||
      type.getAsInteger(10, event.type) ||
      config.getAsInteger(10, event.config))
    return false;
  std::memcpy(event.name, name.data(), name.size());
  event.name[name.size()] = 0;
  return true;
}

bool Counters::configure(StringRef list) {
  unsigned size = 0;
  countedSize = 0;
  while (!list.empty()) {
    auto [first, rest] = list.split(',');
    if (size == most || !parseEvent(first, countedEvents[size]))
      return false;
    ++size;
    list = rest;
  }
  countedSize = size;
  return true;
}

unsigned Counters::size() { return countedSize; }

StringRef Counters::name(unsigned index) { return countedEvents[index].name; }

//===----------------------------------------------------------------------===//
// The counters of a thread
//===----------------------------------------------------------------------===//

/// Half of the descriptor range is left to the tool, however many threads it
/// has.
static bool isTooHigh(int descriptor) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
         static_cast<rlim_t>(descriptor) >= limit.rlim_cur / 2;
}

bool Counters::add(unsigned index) {
  const CountedEvent &event = countedEvents[index];
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_GROUP;
  attributes.exclude_kernel = event.isUserOnly;
  attributes.exclude_hv = 1;
  // Pinned: always on the processor or in an error state, never multiplexed.
  attributes.pinned = index == 0;
  // A counter that joins a running group starts counting later than the others.
  attributes.disabled = index == 0;
  int leader = index == 0 ? -1 : descriptors[0];
  int descriptor = syscall(SYS_perf_event_open, &attributes, /*pid=*/0,
                           /*cpu=*/-1, leader, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0)
    return false;
  descriptors[opened++] = descriptor;
  return !isTooHigh(descriptor);
}

bool Counters::open() {
  close();
  for (unsigned index = 0; index < countedSize; ++index) {
    if (!add(index)) {
      close();
      return false;
    }
  }
  if (isOpen() && ioctl(descriptors[0], PERF_EVENT_IOC_ENABLE, 0) != 0)
    close();
  return isOpen();
}

bool Counters::read(uint64_t *values) const {
  if (!isOpen())
    return false;
  uint64_t group[1 + most]; // the number of values, then each value
  ssize_t expected = (1 + opened) * sizeof(uint64_t);
  if (::read(descriptors[0], group, sizeof(group)) != expected)
    return false;
  std::memcpy(values, group + 1, opened * sizeof(uint64_t));
  return true;
}

void Counters::close() {
  while (opened != 0)
    ::close(descriptors[--opened]);
}

} // namespace adbg
