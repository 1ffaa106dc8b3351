//===- Modules.h - Executable libraries of IREE -----------------*- C++ -*-===//
//
// An executable library exports a function that returns its table of
// dispatches. The pointers in the table are replaced. What is not understood
// is left as it is, and noted.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Slots.h"

#include <stddef.h>

#define IREE_QUERY "iree_hal_executable_library_query"

typedef int Protect(void *address, size_t size, int protection);

/// The function of libc: changes of memory here must not be seen as a
/// program's.
extern Protect *realProtect;

/// Looks at memory that became readable or executable: IREE's own loader
/// makes first the header of a library readable, then its code executable.
void seeProtected(void *address, size_t size, int protection);

/// Counts the dispatches of a library, given its query function.
void countLibrary(void *query);
