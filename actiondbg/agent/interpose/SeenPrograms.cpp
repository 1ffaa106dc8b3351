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
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace adbg {

/// The file; empty if there is none.
static char seenFile[PATH_MAX];
/// The value of LD_PRELOAD with this agent.
static char preload[PATH_MAX];
/// Whether this program, of this process or of the one that it is a fork of, is
/// debugged.
static bool isDebugged = false;

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
  if (isDebugged && Engine::first().isOwnProcess()) {
    char number[16];
    snprintf(number, sizeof(number), "%d", getpid());
    note("became ", number);
  }
  for (char *const *one = environment; one && *one; ++one)
    if (strncmp(*one, "LD_PRELOAD=", 11) == 0 && strstr(*one + 11, preload))
      return;
  note("lost ", path);
}

bool refusesAgent(const char *path) {
  if (!*seenFile || !path)
    return false;
  static constexpr char library[] = "libasan.so.";
  constexpr size_t name = sizeof(library) - 1;
  constexpr off_t most =
      1 << 20; // the names of libraries are near the beginning
  int saved = errno;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool isFound = false;
  char part[4096];
  for (off_t at = 0; file >= 0 && at < most; at += sizeof(part) - name) {
    ssize_t size = pread(file, part, sizeof(part), at);
    if (size <= 0 || (at == 0 && memcmp(part,
                                        "\x7f"
                                        "ELF",
                                        4) != 0))
      break;
    isFound = memmem(part, size, library, name);
    if (isFound)
      break;
  }
  if (file >= 0)
    close(file);
  errno = saved;
  return isFound;
}

size_t sizeOf(char *const *environment) {
  size_t size = 1;
  while (environment && environment[size - 1])
    ++size;
  return size;
}

void copyWithoutAgent(char *const *environment, size_t size, char **copy,
                      char (&preloaded)[4096]) {
  static constexpr char variable[] = "LD_PRELOAD=";
  constexpr size_t name = sizeof(variable) - 1;
  size_t agent = strcspn(preload, ":"); // it is the first
  for (size_t i = 0; i + 1 < size; ++i) {
    char *one = environment[i];
    const void *found = strncmp(one, variable, name) == 0
                            ? memmem(one, strlen(one), preload, agent)
                            : nullptr;
    if (!found || strlen(one) >= sizeof(preloaded)) {
      *copy++ = one;
      continue;
    }
    size_t before = static_cast<const char *>(found) - one;
    const char *behind = one + before + agent;
    memcpy(preloaded, one, before);
    strcpy(preloaded + before, *behind == ':' ? behind + 1 : behind);
    if (preloaded[name])
      *copy++ = preloaded;
  }
  *copy = nullptr;
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

void noteDebugged(bool isReplay) {
  isDebugged = true;
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  long second = sysconf(_SC_CLK_TCK);
  char text[64];
  snprintf(text, sizeof(text), "%d %lld", getpid(),
           static_cast<long long>(now.tv_sec) * second +
               now.tv_nsec / (1000000000 / second));
  note(isReplay ? "replayed " : "debugged ", text);
}

namespace {
/// A running process, as in proc(5): the time of its start is in ticks since
/// boot.
struct RunningProcess {
  pid_t parent = 0;
  long long start = 0;

  explicit RunningProcess(pid_t pid) {
    char path[32], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
      close(file);
    text[std::max<ssize_t>(size, 0)] = 0;
    // The name before it may hold any character.
    const char *rest = strrchr(text, ')');
    if (rest)
      sscanf(rest + 1,
             " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
             "%*d %*d %*d %lld",
             &parent, &start);
  }
};

/// The processes that are debugged, from the file.
class DebuggedProcesses {
public:
  DebuggedProcesses() {
    FILE *file = fopen(seenFile, "re");
    char line[PATH_MAX + 32];
    Entry entry;
    while (file && fgets(line, sizeof(line), file))
      if (sscanf(line, "debugged %d %lld", &entry.pid, &entry.since) == 2)
        all.push_back({entry.pid, entry.since, false});
      else if (sscanf(line, "replayed %d %lld", &entry.pid, &entry.since) == 2)
        all.push_back({entry.pid, entry.since, true});
    if (file)
      fclose(file);
  }

  struct Entry {
    pid_t pid = 0;
    long long since = 0;
    bool isReplay = false;
  };

  /// Returns the debugged process that this one was, or that has started it or
  /// one of its ancestors; null if there is none. What was started before it
  /// was debugged is another process of the program.
  const Entry *find() const {
    constexpr int most = 100;
    long long started = LLONG_MAX;
    pid_t pid = getpid();
    for (int depth = 0; pid > 1 && depth < most; ++depth) {
      for (const Entry &one : all)
        if (one.pid == pid && started >= one.since)
          return &one;
      RunningProcess process(pid);
      started = process.start;
      pid = process.parent;
    }
    return nullptr;
  }

private:
  std::vector<Entry> all;
};
} // namespace

bool isChildOfDebugged() {
  if (!*seenFile || isDebugged || Engine::isLibrary)
    return false;
  DebuggedProcesses debugged;
  const DebuggedProcesses::Entry *found = debugged.find();
  if (found && !found->isReplay)
    noteUnobserved();
  return found;
}

} // namespace adbg
