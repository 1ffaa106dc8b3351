//===- Settings.h - The settings of a counted program -----------*- C++ -*-===//
//
// Read once from the environment, when the library is loaded: programs change
// their environment. ACTIONDBG_CALLS_* are set by "actiondbg kernels count";
// without ACTIONDBG_CALLS_DIRECTORY the variables IREE_HOOK_* apply, and the
// program prints its own statistics when it ends.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MaxEvents = 16, MaxPath = 4096 };

/// An event of perf_event_open(2).
struct Event {
  uint32_t type;
  uint64_t config;
  bool userOnly;
  const char *name;
};

struct Settings {
  /// The folder of the files; empty until standalone counting creates one.
  char directory[MaxPath];
  bool standalone;
  /// The glob of the functions to count; empty for all.
  const char *glob;
  struct Event events[MaxEvents];
  uint32_t eventCount;
  /// The first event name that is not known; NULL if all are.
  const char *unknownEvent;
  /// What reports the statistics of standalone counting.
  const char *python;
  const char *root;
};

extern struct Settings settings;

void readSettings(void);
