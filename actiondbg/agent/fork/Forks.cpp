#include "fork/Forks.h"
#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "interpose/SeenPrograms.h"
#include "support/Connection.h"
#include "support/ExitAtOnce.h"
#include "support/OwnFiles.h"
#include "support/SignalStack.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// The name of a process in ps
//===----------------------------------------------------------------------===//

// Sources: proc(5), /proc/PID/stat; PR_SET_MM_MAP in prctl(2), which needs no
// privilege.

static constexpr char command[] = "adbg-checkpoint"; // at most 15 characters
static constexpr char title[] = "actiondbg-checkpoint";

namespace {
/// What the kernel shows of the tool.
struct Shown {
  char command[16] = "";
  struct prctl_mm_map map = {};
  /// The arguments of the tool behind the title.
  std::string titled;
};
} // namespace

static std::optional<struct prctl_mm_map> memoryMap() {
  std::string text = readFile("/proc/self/stat").value_or("");
  // The second field is the name, in parentheses; it may contain blanks.
  char *rest = strrchr(text.data(), ')');
  uint64_t fields[52] = {};
  if (!rest)
    return std::nullopt;
  rest += 4; // the third field is a letter
  for (int number = 4; number < 52; ++number)
    fields[number] = strtoull(rest, &rest, 10);
  struct prctl_mm_map map = {};
  map.start_code = fields[26];
  map.end_code = fields[27];
  map.start_stack = fields[28];
  map.start_data = fields[45];
  map.end_data = fields[46];
  map.start_brk = fields[47];
  map.arg_start = fields[48];
  map.arg_end = fields[49];
  map.env_start = fields[50];
  map.env_end = fields[51];
  map.exe_fd = -1;
  return map;
}

static std::optional<Shown> shownNow() {
  Shown shown;
  std::optional<struct prctl_mm_map> map = memoryMap();
  if (!map || !map->arg_start || prctl(PR_GET_NAME, shown.command) != 0)
    return std::nullopt;
  shown.map = *map;
  shown.titled.assign(title, sizeof(title));
  shown.titled.append(reinterpret_cast<const char *>(map->arg_start),
                      map->arg_end - map->arg_start);
  return shown;
}

static void showArguments(struct prctl_mm_map map, uint64_t begin,
                          uint64_t end) {
  map.arg_start = begin;
  map.arg_end = end;
  map.brk = reinterpret_cast<uintptr_t>(sbrk(0));
  // Where the kernel refuses it, the name of the command has to do.
  prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

/// Shows this process in ps as a checkpoint, or as the tool again. What the
/// program itself reads, such as its arguments, stays as it is.
static void titleAsCheckpoint(bool isCheckpoint) {
  // Never destroyed: the kernel reads it.
  static auto &tool = *new std::optional<Shown>;
  static bool isTitled = false;
  if (isCheckpoint == isTitled)
    return;
  if (isCheckpoint)
    tool = shownNow();
  if (!tool)
    return;
  isTitled = isCheckpoint;
  prctl(PR_SET_NAME, isCheckpoint ? command : tool->command);
  if (isCheckpoint) {
    auto begin = reinterpret_cast<uintptr_t>(tool->titled.data());
    showArguments(tool->map, begin, begin + tool->titled.size());
  } else {
    showArguments(tool->map, tool->map.arg_start, tool->map.arg_end);
  }
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

const char *textOf(Role role) {
  static const char *const texts[] = {"tool", "checkpoint", "replica", "trial"};
  return texts[static_cast<unsigned>(role)];
}

void Forks::become(const ForkSettings &settings) {
  role = settings.role;
  titleAsCheckpoint(role == Role::Checkpoint);
  // A tool replays until it takes the place of the one before: see settle().
  noteDebugged(/*isReplay=*/role != Role::Checkpoint);
  connection.abandon();
  if (role == Role::Replica || role == Role::Trial)
    checkpoints = Checkpoints();
  // Its end must not remove files of the tool, unless it is the tool.
  setFork(role != Role::Tool);
  SilentStreams::end();
  Files::noteFork();
  // Output in the wrong file would be judged by an oracle.
  if (!files.redirect(settings.outputs))
    exitAtOnce(1);
  if (role == Role::Tool) {
    files.reopen(settings.shared, !settings.muted);
    files.mute(settings.muted.value_or(ShownOutput()), settings.shared);
  } else if (role == Role::Replica) {
    Files::discard();
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
      ::signal(number, SIG_DFL);
  }
  if (role != Role::Checkpoint)
    handleCrashSignals();
  connection = Connection();
  connection.open(settings.socket);
}

pid_t Forks::fork(const ForkSettings &settings,
                  function_ref<void()> onConnect) {
  // The files of a frozen process are as its parent noted them: the shared
  // offsets may have moved since.
  if (!isFrozen)
    files.note();
  pid_t pid = forkQuietly();
  if (pid == 0) {
    isFrozen = settings.role == Role::Checkpoint && settings.outputs.isEmpty();
    become(settings);
    onConnect();
  }
  return pid;
}

pid_t Forks::forkCheckpoint(uint64_t event, function_ref<int64_t()> clock,
                            function_ref<void()> onConnect) {
  ForkSettings settings;
  settings.role = Role::Checkpoint;
  settings.socket = checkpoints.socketPath();
  int64_t began = clock();
  pid_t pid = fork(settings, onConnect);
  if (pid > 0)
    checkpoints.made(pid, event, began, clock() - began);
  return pid;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

// The cost of copying a page at its first write after a fork, measured on a
// virtual machine, cache effects included.
static constexpr int64_t faultNanoseconds = 6000;
// Checkpoints take at most 1/timeRatio of the run time.
static constexpr int64_t timeRatio = 12;
// The distance between two checkpoints is at most 1/distanceRatio of the way
// back to them.
static constexpr int64_t distanceRatio = 8;
// Below this number of events, running them again is faster than a fork.
static constexpr uint64_t leastEvents = 200;

void Checkpoints::configure(const std::string &path, int64_t milliseconds,
                            int64_t megabytes) {
  socket = path;
  spacing = lengthened = milliseconds * 1000000;
  mostPages = megabytes * (1 << 20) / sysconf(_SC_PAGESIZE);
  nextCheck = spacing ? 0 : never;
}

void Checkpoints::approach(uint64_t now, uint64_t to) {
  target = spacing && to > now + leastEvents ? to : 0;
  since = now;
  if (target)
    nextCheck = now;
}

bool Checkpoints::isDue(uint64_t event, int64_t time) {
  bool isDue = newest && time - newest >= lengthened;
  if (!newest)
    newest = time;
  if (target > event + leastEvents)
    isDue |= event >= halfway();
  plan(event, time);
  return isDue;
}

/// Schedules the next check: a few times between two checkpoints, and not at
/// each event, because reading the clock costs time.
void Checkpoints::plan(uint64_t event, int64_t time) {
  uint64_t events = event - lastCheck;
  int64_t took = time - lastCheckTime;
  uint64_t step = 1;
  if (lastCheckTime && took > 0 && events)
    step = std::clamp<uint64_t>(events * (lengthened / 8) / took, 1, 512);
  lastCheck = event;
  lastCheckTime = time;
  nextCheck = event + step;
  if (target > event + leastEvents)
    nextCheck = std::min(nextCheck, std::max(event + 1, halfway()));
}

void Checkpoints::made(pid_t pid, uint64_t event, int64_t time, int64_t took) {
  struct rusage usage;
  uint64_t now = getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt : 0;
  uint64_t pages = now - faults;
  faults = now;
  newest = time;
  since = event;
  if (!own.empty())
    own.back().pages = pages;
  int64_t cost = took + int64_t(own.empty() ? 0 : pages) * faultNanoseconds;
  lengthened = std::max(spacing, timeRatio * cost);
  int pidfd = syscall(SYS_pidfd_open, pid, 0);
  if (pidfd < 0)
    return;
  own.push_back({pidfd, time, 0});
  thin(time);
}

void Checkpoints::drop(size_t index) {
  syscall(SYS_pidfd_send_signal, own[index].pidfd, SIGKILL, nullptr, 0);
  close(own[index].pidfd);
  // The pages shared by these two only are kept by the older one.
  if (index)
    own[index - 1].pages += own[index].pages;
  own.erase(own.begin() + index);
}

/// By run time. The front end has limits of its own, for all checkpoints of a
/// session: least_useful in process/checkpoints.py.
void Checkpoints::thin(int64_t time) {
  for (size_t i = 1; i + 1 < own.size();) {
    int64_t gap = own[i + 1].time - own[i - 1].time;
    if (gap * distanceRatio < time - own[i + 1].time)
      drop(i);
    else
      ++i;
  }
  uint64_t pages = 0;
  for (const Own &one : own)
    pages += one.pages;
  while (pages > mostPages && own.size() > 1) {
    pages -= own.front().pages;
    drop(0);
  }
}

//===----------------------------------------------------------------------===//
// Signals of crashes
//===----------------------------------------------------------------------===//

namespace {
struct Signal {
  int number;
  const char *name;
};
} // namespace

static constexpr Signal crashes[] = {
    {SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}};

const char *signalName(int number) {
  for (const Signal &one : crashes)
    if (one.number == number)
      return one.name;
  return "an unknown signal";
}

// The tool's handlers of crash signals.
static struct sigaction toolActions[NSIG];

// Whether this thread handles a crash.
static thread_local volatile bool isInCrash = false;
// Whether the tool's handler of a crash in this thread has returned. It may
// have mended the cause; or the signal comes again, with its default action.
static thread_local volatile bool hasReturned = false;

static void raiseUnhandled(int number) {
  ::signal(number, SIG_DFL);
  raise(number);
}

/// Whether the tool's handler of a crash is called: a replay recovers where the
/// tool did, and does nothing else that the handler would.
static bool isToolCalled(Role role) {
  return role == Role::Tool || (role == Role::Replica && tool::crashRecovery &&
                                tool::crashRecovery());
}

void leaveCrash() {
  if (!isInCrash && !hasReturned)
    return;
  Recorder::recover();
  isInCrash = false;
  hasReturned = false;
}

static void returnFromCrash() {
  Recorder::mayRecover();
  isInCrash = false;
  hasReturned = true;
}

static void onCrash(int number, siginfo_t *info, void *context) {
  // A handler of the tool restores the handler that it replaced, which is this
  // function, and raises the signal again.
  if (isInCrash)
    return raiseUnhandled(number);
  isInCrash = true;
  Files::showErrors();
  Engine &engine = Engine::known();
  engine.end.crash(number);
  Recorder::crash();
  struct sigaction &tool = toolActions[number];
  // LLVM's handler calls no function of ours, and does not return. A tool that
  // recovers goes on: what it reports later replaces this.
  engine.end.sendCrash();
  bool isCalled = isToolCalled(engine.forks.role);
  if (isCalled && (tool.sa_flags & SA_SIGINFO)) {
    tool.sa_sigaction(number, info, context);
    return returnFromCrash();
  }
  if (isCalled && tool.sa_handler != SIG_DFL && tool.sa_handler != SIG_IGN) {
    tool.sa_handler(number);
    return returnFromCrash();
  }
  raiseUnhandled(number);
}

static bool isOurs(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == onCrash;
}

static bool isHandled = false;

void handleCrashSignals() {
  isHandled = true;
  ensureSignalStack();
  for (const auto &[number, name] : crashes) {
    struct sigaction action = {};
    struct sigaction before;
    action.sa_sigaction = onCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, &before) != 0)
      continue;
    // In a fork of a fork the handler is already ours.
    if (!isOurs(before))
      toolActions[number] = before;
  }
}

void keepCrashSignals() {
  struct sigaction action;
  if (isHandled && sigaction(SIGABRT, nullptr, &action) == 0 && !isOurs(action))
    handleCrashSignals();
}

} // namespace adbg
