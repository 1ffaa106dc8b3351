//===- ProcessLog.h - The files of a process --------------------*- C++ -*-===//
//
// A process with counted functions writes ID.names: a line with the word
// "events" and their names, then one for each function that was loaded: number,
// 1 if it is counted, library, name. Tabs separate the fields. ID.notes has
// sentences about what could not be counted. ID is the number of the process
// and a serial number: exec keeps the first.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Settings.h"

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

/// Appends text or a decimal number, and returns the end.
char *appendText(char *out, const char *end, const char *text);
char *appendNumber(char *out, const char *end, uint64_t number);

/// Whether this process created the folder of standalone counting; a fork of it
/// did not.
bool ownsDirectory(void);

/// What prevents counting in this process: a file that cannot be created, and
/// the error; or a reason without an error. Empty if there is nothing.
extern char problem[MaxPath];
extern int problemError;
