//===- SeenPrograms.cpp - What a program starts ---------------------------===//
//
// A program of which nothing was recorded may have started a tool that is
// stripped, or that did not load the agent: the front end reads it here.
//
//===----------------------------------------------------------------------===//

#include "interpose/SeenPrograms.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace adbg {

/// The value of LD_PRELOAD with this agent; empty in a process without it.
static char preload[PATH_MAX];
static int seenFile = -1;

/// Adds a line to the file with one write: other processes write, too.
static void note(const char *kind, const char *path) {
  char line[PATH_MAX + 16];
  size_t size = strlen(path);
  if (seenFile < 0 || size > PATH_MAX)
    return;
  memcpy(line, kind, strlen(kind));
  memcpy(line + strlen(kind), path, size);
  size += strlen(kind);
  line[size] = '\n';
  if (write(seenFile, line, size + 1) < 0)
    seenFile = -1;
}

__attribute__((constructor)) static void noteProgram() {
  const char *file = getenv("ACTIONDBG_SEEN");
  const char *value = getenv("LD_PRELOAD");
  if (!file || !value || strlen(value) >= sizeof(preload))
    return;
  strcpy(preload, value);
  int given = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  // Above what a program uses by number.
  seenFile = given < 0 ? -1 : fcntl(given, F_DUPFD_CLOEXEC, 400);
  if (given >= 0)
    close(given);
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (size <= 0)
    return;
  path[size] = 0;
  note("ran ", path);
}

void noteExec(const char *path, char *const *environment) {
  int saved = errno;
  bool isKept = false;
  for (char *const *one = environment; seenFile >= 0 && one && *one; ++one)
    isKept |= strncmp(*one, "LD_PRELOAD=", 11) == 0 &&
              strstr(*one + 11, preload) != nullptr;
  if (!isKept)
    note("lost ", path);
  errno = saved;
}

} // namespace adbg
