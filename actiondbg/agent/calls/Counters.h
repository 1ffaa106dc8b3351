//===- Counters.h - The event counters of a thread --------------*- C++ -*-===//
//
// One group of perf_event_open(2), read with one system call. Restricted to
// system calls, see ThreadLog.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Settings.h"

struct Counters {
  int descriptors[MaxEvents];
  uint32_t opened;
  /// A bit for each event of the settings that is counted, and for each that is
  /// counted outside the kernel only.
  uint32_t mask, userMask;
};

/// The values of a group as the kernel writes them.
struct Values {
  uint64_t count;
  uint64_t values[MaxEvents];
};

/// Counts the events of the settings in the calling thread; those that the
/// kernel refuses are left out and noted.
void openCounters(struct Counters *counters);
void closeCounters(struct Counters *counters);

/// Reads the counters; false if they no longer count.
bool readCounters(const struct Counters *counters, struct Values *values);
