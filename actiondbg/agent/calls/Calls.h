//===- Calls.h - The library that counts calls ------------------*- C++ -*-===//

#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// The settings of a counted program
//
// Read once from the environment, when the library is loaded: programs change
// their environment. ACTIONDBG_CALLS_* are set by "actiondbg kernels count";
// without ACTIONDBG_CALLS_DIRECTORY the variables IREE_HOOK_* apply, and the
// program prints its own statistics when it ends.
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The files of a process
//
// A process with counted functions writes ID.names: a line with the word
// "events" and their names, then one for each function that was loaded: number,
// 1 if it is counted, library, name. Tabs separate the fields. ID.notes has
// sentences about what could not be counted. ID is the number of the process
// and a serial number: exec keeps the first.
//===----------------------------------------------------------------------===//

/// What a fork does not inherit: the kernel clears this page in the child.
struct Image {
  /// Not 0 while the files of this process are open.
  uint64_t token;
  uint32_t lock;
  uint32_t threads;
};

extern struct Image *image;

/// Prepares the process; nothing can be counted before.
void startProcess(void);

void lock(void);
void unlock(void);

/// Creates the files of this process if it has none; false if that fails.
/// Restricted to system calls: it runs between a kernel's caller and a kernel.
bool openProcess(void);

/// Writes the name of a function and returns its number. Needs the lock.
uint32_t addName(const char *library, const char *name, bool counted);

/// Writes a sentence to the notes. Restricted to system calls.
void addNote(const char *sentence, const char *detail, const char *end);

/// Creates a file that did not exist: "DIRECTORY/PREFIX-SERIAL.SUFFIX".
/// Returns a descriptor or -1. Restricted to system calls.
int createFile(const char *prefix, const char *suffix, char path[MaxPath]);

/// The ID of this process.
extern char processID[64];

/// Appends texts, behind the last of which stands a null pointer, or a decimal
/// number, and returns the end.
char *appendTexts(char *out, const char *end, ...) __attribute__((sentinel));
char *appendNumber(char *out, const char *end, uint64_t number);

/// Whether this process created the folder of standalone counting; a fork of it
/// did not.
bool ownsDirectory(void);

/// What prevents counting in this process: a file that cannot be created, and
/// the error; or a reason without an error. Empty if there is nothing.
extern char problem[MaxPath];
extern int problemError;

//===----------------------------------------------------------------------===//
// The calls of a thread
//
// Each thread maps a file of its own, so that a killed program loses nothing:
// a header of one page, then one record for each call. Begin and end are
// restricted to system calls and functions of libc that do not touch vector
// registers: a kernel's arguments may be in them.
//===----------------------------------------------------------------------===//

/// The values of a group as the kernel writes them.
struct Values {
  uint64_t count;
  uint64_t values[MaxEvents];
};

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

//===----------------------------------------------------------------------===//
// Functions that are replaced by counting ones
//
// A slot is a function of a module and the entry that replaces it. The
// entries are code of this library, one for each slot, so that no code is
// generated while the program runs.
//===----------------------------------------------------------------------===//

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
