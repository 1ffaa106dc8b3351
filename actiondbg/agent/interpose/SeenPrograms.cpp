//===- SeenPrograms.cpp - What a program starts ---------------------------===//

#include "interpose/SeenPrograms.h"
#include "engine/Engine.h"
#include "interpose/FollowedProcess.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace adbg {

/// The file; empty if there is none.
static char seenFile[PATH_MAX];
/// The value of LD_PRELOAD with this agent.
static char preload[PATH_MAX];
/// Whether this process was started to be debugged or recorded.
static bool wasStarted = true;

/// Adds a line with one write: other processes write, too. The file is not kept
/// open: a program may close what it has not opened, or count it.
static void note(const char *kind, const char *text) {
  char line[PATH_MAX + 32];
  size_t begin = strlen(kind), size = strlen(text);
  if (!*seenFile || size > PATH_MAX)
    return;
  int saved = errno;
  memcpy(line, kind, begin);
  memcpy(line + begin, text, size);
  line[begin + size] = '\n';
  int file = open(seenFile, O_WRONLY | O_APPEND | O_CLOEXEC);
  // A line that is not written is one that the front end does not see.
  if (file >= 0 && write(file, line, begin + size + 1) >= 0)
    close(file);
  errno = saved;
}

// Before the environment is cleared.
__attribute__((constructor(102))) static void noteProgram() {
  wasStarted = getenv("ACTIONDBG_SOCKET") || getenv("ACTIONDBG_RECORD") ||
               getenv("ACTIONDBG_UPSTREAM_LOG") || !getenv("ACTIONDBG_PROGRAM");
  const char *file = getenv("ACTIONDBG_SEEN");
  const char *value = getenv("LD_PRELOAD");
  if (!file || !value || strlen(file) >= sizeof(seenFile) ||
      strlen(value) >= sizeof(preload))
    return;
  strcpy(seenFile, file);
  strcpy(preload, value);
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (size <= 0)
    return;
  path[size] = 0;
  note("ran ", path);
}

void noteExec(const char *path, char *const *environment) {
  if (!*seenFile || !path)
    return;
  for (char *const *one = environment; one && *one; ++one)
    if (strncmp(*one, "LD_PRELOAD=", 11) == 0 && strstr(*one + 11, preload))
      return;
  note("lost ", path);
}

void noteUnobserved() {
  static pid_t noted = 0;
  const char *glob = getenv("ACTIONDBG_FOLLOW");
  if (!*seenFile || noted == getpid() || (glob && !isFollowed(glob)))
    return;
  noted = getpid();
  // As a person reads it: the number, and the beginning of the command line.
  char text[256], words[200];
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : read(file, words, sizeof(words) - 1);
  if (file >= 0)
    close(file);
  words[std::max<ssize_t>(size, 0)] = 0;
  for (ssize_t i = 0; i + 1 < size; ++i)
    if (words[i] >= 0 && words[i] < ' ')
      words[i] = ' ';
  snprintf(text, sizeof(text), "%d %s", noted, words);
  note("unobserved ", text);
}

bool isOnlySeen() { return !wasStarted && !Engine::isLibrary; }

} // namespace adbg
