#include "interpose/SeenPrograms.h"
#include "engine/Engine.h"
#include "interpose/SuiteProcess.h"
#include "support/OwnFiles.h"

#include <alloca.h>
#include <elf.h>

namespace adbg {

/// The file; empty if there is none.
static char seenFile[PATH_MAX];
/// The value of LD_PRELOAD with this agent.
static char preload[PATH_MAX];
/// The variables that each process of the program needs, with the values that
/// they had at the start of this process: the variables of the agent, and the
/// variables that ACTIONDBG_KEPT lists. Null if nothing is noted.
static const std::vector<char *> *variables = nullptr;
/// Whether this process is debugged, or a fork of a process that is.
static bool isDebugged = false;

bool takesNotes() { return *seenFile; }

/// Adds a line with one write: other processes write, too. The file is not kept
/// open: a program may close what it has not opened, or count it.
void noteLine(const char *kind, const char *text) {
  if (!*seenFile)
    return;
  int saved = errno;
  // The line before may lack its end, on a disk that was full.
  struct iovec parts[] = {{const_cast<char *>("\n"), 1},
                          {const_cast<char *>(kind), strlen(kind)},
                          {const_cast<char *>(text), strlen(text)},
                          {const_cast<char *>("\n"), 1}};
  int file = open(seenFile, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file >= 0) {
    FileLimit limit;
    // Without room for a line, a message lacks what the line says. Not the
    // agent's own function, which observes what the tool writes.
    [[maybe_unused]] long written =
        syscall(SYS_writev, file, parts, std::size(parts));
    close(file);
  }
  errno = saved;
}

static bool isForAgents(const char *variable) {
  return StringRef(variable).starts_with("ACTIONDBG_");
}

/// Copies them: a program may write over its environment.
static void keepVariables() {
  AgentHeap agentHeap;
  auto *kept = new std::vector<char *>;
  const char *names = getenv("ACTIONDBG_KEPT");
  std::vector<StringRef> others;
  StringRef(names ? names : "").split(others, ',');
  for (char **one = environ; *one; ++one)
    if (isForAgents(*one) ||
        llvm::is_contained(others, StringRef(*one).split('=').first))
      kept->push_back(strdup(*one));
  variables = kept;
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
  keepVariables();
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (size <= 0)
    return;
  path[size] = 0;
  noteLine("ran ", path);
  noteSuiteProcess();
}

static constexpr char preloadVariable[] = "LD_PRELOAD=";

/// Whether an environment variable is that with this agent.
static bool isPreload(const char *variable) {
  constexpr size_t name = sizeof(preloadVariable) - 1;
  return strncmp(variable, preloadVariable, name) == 0 &&
         strstr(variable + name, preload);
}

static void noteLost(const char *path, char *const *environment) {
  for (char *const *one = environment; one && *one; ++one)
    if (isPreload(*one))
      return;
  noteLine("lost ", path);
}

static size_t sizeOf(char *const *environment) {
  size_t size = 0;
  while (environment && environment[size])
    ++size;
  return size;
}

/// Whether a program names a library that has to be loaded first.
static bool refusesAgent(const char *path) {
  static constexpr char library[] = "libasan.so.";
  constexpr size_t name = sizeof(library) - 1;
  // The names of libraries are near the beginning.
  constexpr off_t most = 1 << 20;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool isFound = false;
  char part[4096];
  for (off_t at = 0; file >= 0 && at < most; at += sizeof(part) - name) {
    ssize_t size = pread(file, part, sizeof(part), at);
    if (size <= 0 || (at == 0 && memcmp(part, ELFMAG, SELFMAG) != 0))
      break;
    isFound = memmem(part, size, library, name);
    if (isFound)
      break;
  }
  if (file >= 0)
    close(file);
  return isFound;
}

/// Adds the preloaded libraries other than this agent to a text; returns
/// whether there are any. The agent is the first library, or behind sanitizers.
static bool addOthers(char *text) {
  Dl_info agent = {};
  dladdr(reinterpret_cast<void *>(&addOthers), &agent);
  bool isFound = false;
  for (const char *one = preload; *one;) {
    size_t size = strcspn(one, ": ");
    bool isAgent = agent.dli_fname && strlen(agent.dli_fname) == size &&
                   strncmp(one, agent.dli_fname, size) == 0;
    if (size && !isAgent) {
      strcat(text, isFound ? ":" : "");
      strncat(text, one, size);
      isFound = true;
    }
    one += size + (one[size] != 0);
  }
  return isFound;
}

/// Whether an environment is for a process that loads this agent, but has no
/// variable of it: drivers such as lit give their tests few variables, with
/// LD_PRELOAD among them.
static bool lacksVariables(char *const *environment) {
  bool loadsAgent = false;
  for (char *const *one = environment; one && *one; ++one) {
    if (isForAgents(*one))
      return false;
    loadsAgent |= isPreload(*one);
  }
  return loadsAgent;
}

/// Whether an environment has a variable, with whatever value.
static bool has(char *const *environment, const char *variable) {
  size_t name = strcspn(variable, "=") + 1;
  for (char *const *one = environment; *one; ++one)
    if (strncmp(*one, variable, name) == 0)
      return true;
  return false;
}

/// Calls `start` with another environment: one in which only the user's own
/// libraries are preloaded, or one with the variables of the agent.
static int startChanged(const char *path, char *const *environment,
                        bool withAgent,
                        function_ref<int(char *const *)> start) {
  size_t size = sizeOf(environment);
  auto **chosen = static_cast<char **>(
      alloca((size + variables->size() + 1) * sizeof(char *)));
  char users[sizeof(preload) + sizeof(preloadVariable)];
  strcpy(users, preloadVariable);
  bool hasOthers = !withAgent && addOthers(users);
  char **end = chosen;
  for (size_t i = 0; i < size; ++i)
    if (withAgent || !isPreload(environment[i]))
      *end++ = environment[i];
    else if (hasOthers)
      *end++ = users;
  for (char *one : *variables)
    if (withAgent && !has(environment, one))
      *end++ = one;
  *end = nullptr;
  noteLost(path, chosen);
  return start(chosen);
}

int startNoted(const char *path, char *const *environment,
               function_ref<int(char *const *)> start) {
  if (!*seenFile || !path)
    return start(environment);
  int saved = errno;
  bool isRefused = strchr(path, '/') && refusesAgent(path);
  errno = saved;
  if (LLVM_UNLIKELY(isRefused || lacksVariables(environment)))
    return startChanged(path, environment, !isRefused, start);
  noteLost(path, environment);
  return start(environment);
}

int execNoted(const char *path, char *const *environment,
              function_ref<int(char *const *)> exec) {
  if (isDebugged && Engine::first().isOwnProcess()) {
    char number[16];
    snprintf(number, sizeof(number), "%d", getpid());
    noteLine("became ", number);
  }
  return startNoted(path, environment, exec);
}

void noteLoaded(const char *path) {
  char absolute[PATH_MAX];
  if (realpath(path, absolute))
    noteLine("loaded ", absolute);
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
  noteLine(isReplay ? "replayed " : "debugged ", text);
}

void noteForked() { isDebugged = false; }

namespace {
/// A running process, as in proc(5): the time of its start is in ticks since
/// boot.
struct RunningProcess {
  pid_t parent = 0;
  long long start = 0;

  explicit RunningProcess(pid_t pid) {
    std::string path = "/proc/" + std::to_string(pid) + "/stat";
    std::string text = readFile(path.c_str()).value_or("");
    // The name before it may hold any character.
    const char *rest = strrchr(text.c_str(), ')');
    if (rest)
      sscanf(rest + 1,
             " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
             "%*d %*d %*d %lld",
             &parent, &start);
  }
};

struct DebuggedProcess {
  pid_t pid = 0;
  long long since = 0;
  bool isReplay = false;
};
} // namespace

/// Lists the processes that are debugged, from the file.
static std::vector<DebuggedProcess> debuggedProcesses() {
  std::vector<DebuggedProcess> all;
  FILE *file = fopen(seenFile, "re");
  char line[PATH_MAX + 32];
  DebuggedProcess one;
  while (file && fgets(line, sizeof(line), file)) {
    one.isReplay = StringRef(line).starts_with("replayed");
    const char *format = one.isReplay ? "replayed %d %lld" : "debugged %d %lld";
    if (sscanf(line, format, &one.pid, &one.since) == 2)
      all.push_back(one);
  }
  if (file)
    fclose(file);
  return all;
}

bool runsUnobserved() {
  if (!*seenFile || isDebugged || Engine::isLibrary)
    return false;
  // A child of the debugged process itself, and a program that it became, wait
  // for their turn, as each process of the program does. The newest entry
  // counts of the debugged process that is this one or its nearest ancestor. A
  // child of a process that was not debugged yet is no child of a debugged
  // process.
  std::vector<DebuggedProcess> debugged = debuggedProcesses();
  constexpr int most = 100;
  long long started = LLONG_MAX;
  pid_t pid = getpid();
  for (int depth = 0; pid > 1 && depth < most; ++depth) {
    for (const DebuggedProcess &one : debugged | std::views::reverse)
      if (one.pid == pid && started >= one.since)
        return one.isReplay;
    RunningProcess process(pid);
    started = process.start;
    pid = process.parent;
  }
  return false;
}

} // namespace adbg
