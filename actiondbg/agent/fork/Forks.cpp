#include "fork/Forks.h"
#include "fork/QuietFork.h"
#include "interpose/SeenPrograms.h"
#include "support/Connection.h"
#include "support/ExitAtOnce.h"
#include "support/ReadFile.h"

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
  switch (role) {
  case Role::Tool:
    return "tool";
  case Role::Checkpoint:
    return "checkpoint";
  case Role::Replica:
    return "replica";
  case Role::Trial:
    return "trial";
  }
  return "";
}

static void ignoreInterrupts() {
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    ::signal(number, SIG_DFL);
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
  switch (role) {
  case Role::Tool:
    files.reopen(settings.shared, !settings.muted);
    files.mute(settings.muted.value_or(ShownOutput()), settings.shared);
    handleCrashSignals();
    break;
  case Role::Trial:
    handleCrashSignals();
    break;
  case Role::Checkpoint:
    break;
  case Role::Replica:
    Files::discard();
    handleCrashSignals();
    ignoreInterrupts();
    break;
  }
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

} // namespace adbg
