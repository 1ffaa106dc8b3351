//===- ThreadLog.h - The calls of a thread ----------------------*- C++ -*-===//
//
// Each thread maps a file of its own, so that a killed program loses nothing:
// a header of one page, then one record for each call. Begin and end are
// restricted to system calls and functions of libc that do not touch vector
// registers: a kernel's arguments may be in them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Counters.h"

/// The begin of a call.
struct Call {
  uint64_t start;
  struct Values values;
};

/// Prepares the logs of all threads.
void startThreads(void);

/// Begins a call; false if it is not counted. Each begin needs an end.
bool beginCall(struct Call *call, uint32_t name);
void endCall(const struct Call *call, uint32_t name);
