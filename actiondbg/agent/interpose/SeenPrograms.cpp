#include "interpose/SeenPrograms.h"
#include "engine/Engine.h"
#include "support/OwnFiles.h"

#include "record/PatternSets.h"
#include <alloca.h>
#include <elf.h>
#include <sys/file.h>

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

void noteUnobserved() {
  static pid_t noted = 0;
  const char *glob = getenv("ACTIONDBG_FOLLOW");
  if (!*seenFile || noted == getpid() || (glob && !isFollowed(glob)))
    return;
  noted = getpid();
  if (runsUnobserved())
    return;
  // As a person reads it: the number, and the beginning of the command line.
  std::string words = readFile("/proc/self/cmdline").value_or("");
  words.resize(std::min<size_t>(words.size(), 200));
  auto isControl = [](char c) { return static_cast<uint8_t>(c) < ' '; };
  std::ranges::replace_if(words, isControl, ' ');
  std::string text = std::to_string(noted) + " " + words;
  noteLine("unobserved ", StringRef(text).rtrim().str().c_str());
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

//===----------------------------------------------------------------------===//
// Which process of a program it is
//===----------------------------------------------------------------------===//

static StringRef withoutDirectory(StringRef path) {
  return path.rsplit('/').second.empty() ? path : path.rsplit('/').second;
}

bool isFollowed(StringRef glob) {
  if (glob.empty())
    return true;
  std::string error;
  std::optional<Glob> wanted = Glob::create(glob, error);
  if (!wanted)
    return true; // the front end has checked it
  // The executable, and the words of the command line.
  std::string line = readLink("/proc/self/exe") + '\0' +
                     readFile("/proc/self/cmdline").value_or("");
  std::vector<StringRef> words;
  StringRef(line).split(words, '\0');
  for (StringRef word : words)
    if (wanted->matchesNow(withoutDirectory(word)))
      return true;
  return false;
}

/// Whether the open file is empty, and no other process has claimed it. It
/// stays claimed while this process lives.
static bool claim(int file) {
  struct stat status;
  return flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &status) == 0 &&
         status.st_size == 0;
}

std::string claimRecording(const std::string &path) {
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot < path.rfind('/') + 1)
    dot = path.size();
  for (unsigned number = 0; number < 100000; ++number) {
    std::string name = path;
    if (number)
      name.insert(dot, ".p" + std::to_string(number));
    int flags = O_WRONLY | O_CLOEXEC | O_CREAT | (number ? O_EXCL : 0);
    int file = open(name.c_str(), flags, 0666);
    if (file < 0 && errno != EEXIST)
      return "";
    if (file >= 0 && claim(file))
      return name;
    if (file >= 0)
      close(file);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// A process of a suite
//===----------------------------------------------------------------------===//

/// The folder; empty if no suite is recorded.
static char suiteFolder[PATH_MAX];
/// What identifies this program in the suite: the number of the process and
/// the time of its start. A process may become another program by exec.
static char suiteKey[48];
/// The process that has the key; others are forks of it.
static pid_t suitePid = 0;

bool isOfSuite() { return *suiteFolder; }

namespace {
/// The text of a note, without an allocation.
class NoteText {
public:
  /// Adds a field, behind a separator. Control characters are escaped.
  void add(const char *from, size_t many) {
    put(separator);
    for (size_t i = 0; i < many; ++i)
      putEscaped(from[i]);
    text[size] = 0;
  }
  void add(const char *from) { add(from, strlen(from)); }
  /// Adds the target of a link.
  void addLink(const char *path) {
    char target[PATH_MAX];
    ssize_t many = readlink(path, target, sizeof(target));
    add(target, std::max<ssize_t>(many, 0));
  }
  /// Adds the words of the command line, as many as there is room for.
  void addCommand() {
    char words[4096];
    bool isWithin = false;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t many;
    while (file >= 0 && room() > sizeof(words) * escaped &&
           (many = read(file, words, sizeof(words))) > 0)
      for (ssize_t i = 0; i < many; ++i) {
        if (!isWithin)
          put(separator);
        isWithin = words[i] != 0;
        if (isWithin)
          putEscaped(words[i]);
      }
    if (file >= 0)
      close(file);
    text[size] = 0;
  }
  const char *all() const { return text; }

private:
  static constexpr char separator = '\x1f';
  static constexpr size_t escaped = 4; // bytes of an escaped character
  size_t room() const { return sizeof(text) - size; }
  void put(char one) {
    if (room() > escaped)
      text[size++] = one;
  }
  void putEscaped(char one) {
    if (one == '\\' || static_cast<uint8_t>(one) < ' ')
      size += snprintf(text + size, room(), "\\x%02x", one);
    else
      put(one);
  }
  char text[128 * 1024];
  size_t size = 0;
};
} // namespace

/// Makes a key for this process, and notes it.
static void noteProgramOfSuite() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  suitePid = getpid();
  snprintf(suiteKey, sizeof(suiteKey), "%d-%lld", suitePid,
           now.tv_sec * 1000000000ll + now.tv_nsec);
  char parent[16];
  snprintf(parent, sizeof(parent), "%d", getppid());
  // The test that runs, as pytest tells it.
  const char *test = getenv("PYTEST_CURRENT_TEST");
  NoteText note;
  note.add(suiteKey);
  note.add(parent);
  note.addLink("/proc/self/exe");
  note.addLink("/proc/self/cwd");
  note.addLink("/proc/self/fd/0");
  note.add(test ? test : "");
  note.addCommand();
  noteLine("process", note.all());
  // By its pipe the reader of the output is known, as of a line of a test.
  char output[sizeof(suiteKey) + 64];
  int size = snprintf(output, sizeof(output), "%s ", suiteKey);
  ssize_t many = readlink("/proc/self/fd/1", output + size, 63);
  output[size + std::max<ssize_t>(many, 0)] = 0;
  if (strstr(output, " pipe:"))
    noteLine("output ", output);
}

void noteSuiteProcess() {
  const char *given = getenv("ACTIONDBG_SUITE");
  if (!given || strlen(given) + 64 > sizeof(suiteFolder))
    return;
  strcpy(suiteFolder, given);
  noteProgramOfSuite();
}

void noteUnrecorded() { noteLine("unrecorded ", suiteKey); }

std::string claimSuiteRecording() {
  // A fork, such as a worker of multiprocessing, has the key of its parent.
  if (suitePid != getpid())
    noteProgramOfSuite();
  std::string full = std::string(suiteFolder) + "/full";
  if (access(full.c_str(), F_OK) == 0) {
    noteUnrecorded();
    return "";
  }
  RecordFile::stopAt(full, [] { noteLine("shortened ", suiteKey); });
  PatternSets::keepIn(std::string(suiteFolder) + "/patterns");
  return std::string(suiteFolder) + "/runs/" + suiteKey + ".adbrec";
}

} // namespace adbg
