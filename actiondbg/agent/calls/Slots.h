//===- Slots.h - Functions that are replaced by counting ones ---*- C++ -*-===//
//
// A slot is a function of a module and the entry that replaces it. The
// entries are code of this library, one for each slot, so that no code is
// generated while the program runs.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ProcessLog.h"

/// How a function is called: a dispatch of IREE has three arguments and
/// returns an int; a kernel has any arguments and results.
enum Kind { Dispatch, Kernel };

/// Returns the entry that replaces a function; NULL if it is not counted.
/// Needs the lock.
void *entryOf(enum Kind kind, void *function, const char *library,
              const char *name);

/// Whether an address is an entry.
bool isEntry(const void *address);

/// Forgets the functions in memory that is unmapped.
void removeRange(const void *begin, uint64_t size);
