#include "interpose/ObservedProcess.h"
#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "interpose/Interpose.h"
#include "interpose/SeenPrograms.h"
#include "interpose/SuiteProcess.h"
#include <sys/file.h>

using namespace adbg;

namespace {
/// The front end's settings, from the environment.
struct AgentSettings {
  /// The front end's socket; empty if the agent is not to attach.
  std::string socket;
  RecordSettings record;
  /// The pid of the front end with which the tool ends; 0 for none.
  pid_t parent = 0;
  /// Whether the program of this process may start more processes.
  bool isOfProgram = false;
};
} // namespace

static AgentSettings &settings() { return immortal<AgentSettings>(); }

/// Reads a variable, and removes it unless it is for the children, too.
static std::string readVariable(const char *name, bool isKept) {
  const char *value = getenv(name);
  std::string text = value ? value : "";
  if (!isKept)
    unsetenv(name);
  return text;
}

static void removeAgent() {
  for (const char *name :
       {"ACTIONDBG_PROGRAM", "ACTIONDBG_FRONT_END", "ACTIONDBG_FOLLOW",
        "ACTIONDBG_CACHE", "ACTIONDBG_WITHOUT", "ACTIONDBG_KEPT"})
    unsetenv(name);
  if (const char *users = getenv("ACTIONDBG_PRELOAD"))
    setenv("LD_PRELOAD", users, 1);
  else
    unsetenv("LD_PRELOAD");
  unsetenv("ACTIONDBG_PRELOAD");
}

/// Takes the settings from the environment, and removes the agent from it, so
/// that no child of a tool loads it. The children of a program load the agent:
/// children of a recorded process are recorded, and children of a debugged
/// process only noted.
static void takeEnvironment() {
  settings().isOfProgram = getenv("ACTIONDBG_PROGRAM");
  // Several logs would overwrite each other.
  bool isKept = settings().isOfProgram && getenv("ACTIONDBG_SEEN") &&
                !getenv("ACTIONDBG_UPSTREAM_LOG");
  auto read = [=](const char *name) { return readVariable(name, isKept); };
  std::string socket = read("ACTIONDBG_SOCKET");
  if (settings().socket.empty()) // a program may have been told another one
    settings().socket = socket;
  settings().record = RecordSettings::read(read);
  std::string parent = read("ACTIONDBG_RECORD_PARENT");
  settings().parent = static_cast<pid_t>(strtol(parent.c_str(), nullptr, 10));
  if (!isKept)
    removeAgent();
}

static void takeEnvironmentOnce() {
  static bool isTaken = false;
  if (!std::exchange(isTaken, true))
    takeEnvironment();
}

static pid_t readPid(const char *variable) {
  const char *text = getenv(variable);
  return text ? static_cast<pid_t>(strtol(text, nullptr, 10)) : 0;
}

namespace {
/// One front end debugs or records one process of a tool. A tool may fork
/// before its first context, and compile in the forks: the first process that
/// makes a context is observed, and the others run on.
class ToolProcesses {
  pid_t loadedBy = getpid();
  // Shared with all forks.
  std::atomic<bool> *isObserved = static_cast<std::atomic<bool> *>(
      mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));

public:
  /// Whether this process is a fork of the process that loaded the agent.
  bool isFork() const { return getpid() != loadedBy; }
  /// Returns whether this process is the first to claim to be observed.
  bool claim() {
    return isObserved == MAP_FAILED || !isObserved->exchange(true);
  }
  void free() {
    if (isObserved != MAP_FAILED)
      *isObserved = false;
  }
};
} // namespace

static ToolProcesses &toolProcesses() { return immortal<ToolProcesses>(); }

static bool endsWithFrontEnd = false;

static bool hasEnded(pid_t process) {
  if (kill(process, 0) != 0)
    return errno == ESRCH;
  // PID (NAME) STATE ...: nobody may have waited for it yet.
  AgentHeap agentHeap;
  std::string path = "/proc/" + std::to_string(process) + "/stat";
  std::string text = readFile(path.c_str()).value_or("");
  return StringRef(text).rsplit(')').second.starts_with(" Z");
}

/// Ends what the front end has started when that ends: a program, and a tool,
/// which may wait for its input, or compute, before its first context.
__attribute__((constructor)) static void endWithFrontEnd() {
  toolProcesses();
  for (const char *name : {"ACTIONDBG_PROGRAM", "ACTIONDBG_FRONT_END"})
    if (getppid() == readPid(name)) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      endsWithFrontEnd = true;
    }
  // It may have ended while the libraries of the tool were loaded.
  pid_t frontEnd = readPid("ACTIONDBG_FRONT_END");
  if (frontEnd > 0 && getppid() != frontEnd && hasEnded(frontEnd))
    exitAtOnce(3);
}

/// From its connection on, the end of the connection ends a tool. The thread of
/// the front end that started it may end earlier.
static void endWithConnection() {
  if (endsWithFrontEnd)
    prctl(PR_SET_PDEATHSIG, 0);
}

__attribute__((destructor)) static void sayGoodbye() {
  Engine::first().end.exit();
}

/// Ends the tool when the recording front end ends.
static void endWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    exitAtOnce(3);
}

/// The settings for the forks of this process. A fork that runs actions counts
/// as a process of the program. Null if forks run unobserved.
static const AgentSettings *settingsOfForks = nullptr;

/// Whether this process has said that it cannot be recorded.
static bool isGivenUp = false;

/// Whether another thread was in an action when this one last forked the
/// process.
static thread_local bool wasBusy = false;

/// Looks for actions before the fork is made: in the fork, a lock that another
/// thread holds at that moment is never given back.
static void prepareFork() { wasBusy = Engine::isBusyElsewhere(); }

static void becomeFork() {
  computationsInForks = 0; // the fork has no other threads
  Engine::get().abandon();
  noteForked();
  // What the parent has begun in this thread, the engine before ends.
  Engine::isForked = settingsOfForks && !wasBusy;
}

/// Prepares for forks of this process, whose settings are `given`.
static void expectForks(const AgentSettings &given) {
  static bool isExpected = false;
  if (!std::exchange(isExpected, true))
    pthread_atfork(prepareFork, nullptr, becomeFork);
  leaveTool = [] { Engine::get().abandon(); };
  if (given.isOfProgram && given.record.upstreamLog.empty())
    settingsOfForks = new AgentSettings(given);
}

namespace {
/// While an object lives, the objects of other threads wait in their
/// constructors: threads may make the first contexts at the same time. Unlike a
/// recursive mutex, which knows its owner by a number that a fork changes, it
/// ends in a fork, too.
class OneThread {
  static inline std::mutex mutex;
  static inline thread_local bool isHeld = false;
  bool isOuter = !std::exchange(isHeld, true);

public:
  OneThread() {
    if (isOuter)
      mutex.lock();
  }
  OneThread(const OneThread &) = delete;
  ~OneThread() {
    if (isOuter)
      mutex.unlock();
    isHeld &= !isOuter;
  }
};
} // namespace

static StringRef withoutDirectory(StringRef path) {
  return path.rsplit('/').second.empty() ? path : path.rsplit('/').second;
}

/// Whether the user wants this process: the glob of --follow matches the name
/// of its executable or a word of its command line, without the directory. The
/// variable is taken with the rest of the environment.
static bool isWanted() {
  const char *glob = getenv("ACTIONDBG_FOLLOW");
  if (!glob || !*glob)
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

/// Returns the file for the recording of this process: `path`, or if another
/// process of the program records there, `path` with `.p1`, `.p2`... before its
/// extension. Empty if none can be made.
static std::string claimRecording(const std::string &path) {
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

void adbg::observeProcess(MLIRContext *context) {
  OneThread oneThread;
  AgentHeap agentHeap;
  if (!isWanted())
    return;
  takeEnvironmentOnce();
  if (std::exchange(Engine::isForked, false) && !runsUnobserved()) {
    Engine::renew();
    settings() = *settingsOfForks;
  }
  AgentSettings given = std::exchange(settings(), AgentSettings());
  bool isFork = !given.isOfProgram && toolProcesses().isFork();
  // What a program leaves running at its end outlives the front end's socket.
  if ((given.isOfProgram || isFork) && access(given.socket.c_str(), F_OK) != 0)
    given.socket.clear();
  bool observes =
      !given.record.path.empty() || !given.record.upstreamLog.empty();
  if (given.socket.empty() && !observes)
    return;
  if (!given.isOfProgram && !toolProcesses().claim())
    return;
  expectForks(given);
  const std::string firstPath = given.record.path;
  RecordFile::isClaimed = given.isOfProgram;
  if (given.isOfProgram && !given.record.path.empty())
    given.record.path =
        isOfSuite() ? claimSuiteRecording() : claimRecording(given.record.path);
  // The output of a process of a suite is compared.
  given.record.names = !isOfSuite();
  observes &= !isOfSuite() || !given.record.path.empty();
  if (given.socket.empty() && !observes)
    return;
  if (given.parent && !given.isOfProgram && !isFork)
    endWithParent(given.parent);
  if (observes && !Engine::startObserving(given.record,
                                          context->isMultithreadingEnabled())) {
    if (!isOfSuite() && (!given.isOfProgram || given.record.path == firstPath))
      exitAtOnce(3);
    // The program is under way: its result is worth more than this recording.
    unlink(given.record.path.c_str());
    isGivenUp = true;
    if (isOfSuite())
      noteUnrecorded();
    return;
  }
  if (!given.socket.empty()) {
    noteDebugged(/*isReplay=*/false);
    Engine::get().attach(given.socket);
    if (!given.isOfProgram)
      endWithConnection();
  }
}

void adbg::noteUnobserved() {
  static pid_t noted = 0;
  if (isGivenUp || !takesNotes() || noted == getpid() || !isWanted())
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

/// Whether a front end started this process, which has made no context yet.
static bool isStartedByFrontEnd() {
  return getenv("ACTIONDBG_SOCKET") || getenv("ACTIONDBG_RECORD") ||
         getenv("ACTIONDBG_UPSTREAM_LOG") || !settings().socket.empty() ||
         !settings().record.path.empty();
}

//===----------------------------------------------------------------------===//
// Functions that a program calls
//
// A Python program may load the agent itself (actiondbg.attach) and call these
// functions, instead of being started with the agent and its settings in the
// environment.
//===----------------------------------------------------------------------===//

extern "C" {

/// Prepares for recordings of parts of this program. Returns whether it can be
/// recorded: not if it is debugged or recorded as a whole.
ADBG_EXPORT bool adbg_prepare() {
  if (!Engine::isLibrary && (Engine::first().isAttached() ||
                             (isStartedByFrontEnd() && !runsUnobserved())))
    return false;
  Engine::isLibrary = true;
  return true;
}

/// Connects to the front end that listens at a socket, when the program makes
/// its next context. The program goes on when the front end ends. It is not
/// forked: a fork could not take the place of a process that others wait for.
ADBG_EXPORT void adbg_connect(const char *socket) {
  Connection::onGone = [] { Engine::first().detach(); };
  takeEnvironmentOnce();
  toolProcesses().free();
  settings().socket = socket;
}

/// Records what this process does from now on. The texts are those of
/// RecordSettings. Returns false if the file cannot be written.
ADBG_EXPORT bool adbg_begin(const char *path, const char *ir,
                            const char *skips) {
  RecordSettings settings;
  settings.path = path;
  settings.ir = ir;
  settings.skips = skips;
  return Engine::beginPart(settings);
}

/// Writes what is recorded so far. Returns false if something could not be
/// written, so that the recording has ended.
ADBG_EXPORT bool adbg_flush() {
  Recorder::flushAll();
  return RecordFile::isOpen();
}

/// Completes the recording.
ADBG_EXPORT void adbg_end() { Engine::endPart(); }

} // extern "C"
