//===- Counters.h - Hardware counters of a thread ---------------*- C++ -*-===//
//
// Groups of perf_event_open(2) events, one group a thread. Nothing here
// allocates, locks or prints; a failure is returned as false.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/LLVM.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

namespace adbg {

/// The counters of the thread that opens them; each thread needs its own. In a
/// fork they still read the parent's thread.
class Counters {
public:
  static constexpr unsigned most = 16;

  /// Configures the events that all threads count: "NAME=TYPE:CONFIG",
  /// comma-separated, with TYPE and CONFIG of perf_event_attr; a trailing ":u"
  /// excludes the kernel. Returns false, and counts nothing, if the text is
  /// malformed. Call it once, before any thread opens its counters.
  static bool configure(StringRef list) {
    unsigned size = 0;
    configured = 0;
    while (!list.empty()) {
      auto [first, rest] = list.split(',');
      if (size == most || !events[size].parse(first))
        return false;
      ++size;
      list = rest;
    }
    configured = size;
    return true;
  }
  static unsigned size() { return configured; }
  /// Returns the name of a counter; it lives as long as the process.
  static StringRef name(unsigned index) { return events[index].name; }

  Counters() = default;
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;
  ~Counters() { close(); }

  /// Starts counting for the calling thread, from 0. Returns false if no events
  /// are configured or the kernel refuses one.
  bool open() {
    close();
    for (unsigned index = 0; index < configured; ++index) {
      if (!add(index)) {
        close();
        return false;
      }
    }
    if (isOpen() && ioctl(descriptors[0], PERF_EVENT_IOC_ENABLE, 0) != 0)
      close();
    return isOpen();
  }
  bool isOpen() const { return opened != 0; }
  /// Reads size() values with one system call. Returns false, and leaves
  /// `values` unchanged, if the counters are closed or no longer counting.
  bool read(uint64_t *values) const {
    if (!isOpen())
      return false;
    uint64_t group[1 + most]; // the number of values, then each value
    ssize_t expected = (1 + opened) * sizeof(uint64_t);
    if (::read(descriptors[0], group, sizeof(group)) != expected)
      return false;
    std::memcpy(values, group + 1, opened * sizeof(uint64_t));
    return true;
  }
  void close() {
    while (opened != 0)
      ::close(descriptors[--opened]);
  }

private:
  struct Event {
    char name[64];
    uint32_t type;
    uint64_t config;
    bool isUserOnly;

    bool parse(StringRef text) {
      auto [given, code] = text.rsplit('=');
      isUserOnly = code.consume_back(":u");
      auto [kind, number] = code.split(':');
      if (given.empty() || given.size() >= sizeof(name) ||
          kind.getAsInteger(10, type) || number.getAsInteger(10, config))
        return false;
      std::memcpy(name, given.data(), given.size());
      name[given.size()] = 0;
      return true;
    }
  };

  /// Half of the descriptor range is left to the tool, however many threads it
  /// has.
  static bool isTooHigh(int descriptor) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           static_cast<rlim_t>(descriptor) >= limit.rlim_cur / 2;
  }

  bool add(unsigned index) {
    const Event &event = events[index];
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
    // A counter that joins a running group starts counting later than the
    // others.
    attributes.disabled = index == 0;
    int leader = index == 0 ? -1 : descriptors[0];
    int descriptor = syscall(SYS_perf_event_open, &attributes, /*pid=*/0,
                             /*cpu=*/-1, leader, PERF_FLAG_FD_CLOEXEC);
    if (descriptor < 0)
      return false;
    descriptors[opened++] = descriptor;
    return !isTooHigh(descriptor);
  }

  static inline Event events[most] = {};
  static inline unsigned configured = 0;

  int descriptors[most];
  unsigned opened = 0;
};

} // namespace adbg
