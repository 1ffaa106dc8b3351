#include "layout/Proof.h"
#include "detour/LoadedObjects.h"
#include "fork/QuietFork.h"
#include "layout/Facts.h"
#include "support/AgentHeap.h"
#include "support/ExitAtOnce.h"
#include "support/Memo.h"
#include "support/OwnFiles.h"
#include "support/Registers.h"
#include "support/Symbols.h"

namespace adbg {

namespace {
/// A step takes milliseconds.
constexpr auto longest = std::chrono::seconds(10);

enum class End { Whole, Crashed, Hung, Unforked };

/// How a fork reports where it crashes, in place of an answer.
struct CrashReport {
  static constexpr char mark = 1;
  const char begin = mark;
  char signal = 0;
  const void *place = nullptr;
};

/// The pipe from a fork: a text for each step that is over, and a 0 after it;
/// or the report of a crash.
class Answers {
public:
  explicit Answers(int fd) : fd(fd) {}

  /// Where it crashed: the end of a sentence; empty if that is unknown.
  std::string place;

  /// Adds the answers of `count` steps.
  End read(size_t count, std::vector<std::string> &answers) {
    auto deadline = std::chrono::steady_clock::now() + longest;
    std::string text;
    while (count) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return End::Hung;
      struct pollfd one = {fd, POLLIN, 0};
      if (poll(&one, 1, static_cast<int>(left.count())) < 0 && errno != EINTR)
        return End::Hung;
      if (!one.revents)
        continue;
      char c;
      ssize_t size = ::read(fd, &c, 1);
      if (size < 0 && errno == EINTR)
        continue;
      if (size <= 0)
        return End::Crashed;
      if (c == CrashReport::mark && text.empty()) {
        readPlace();
        return End::Crashed;
      }
      if (c) {
        text += c;
        continue;
      }
      answers.push_back(std::exchange(text, ""));
      --count;
    }
    return End::Whole;
  }

private:
  /// Reads the rest of a report: it was written at once.
  void readPlace() {
    CrashReport report;
    char *rest = reinterpret_cast<char *>(&report) + 1;
    if (::read(fd, rest, sizeof(report) - 1) != sizeof(report) - 1)
      return;
    place = std::string(": ") + strsignal(report.signal);
    if (Place found = Place::of(report.place); found.isKnown())
      place += " at " + found.offsetOf(report.place);
  }

  int fd;
};

/// In a fork, where crashes are reported.
int reports = -1;
} // namespace

static void reportCrash(int number, siginfo_t *, void *context) {
  CrashReport report;
  report.signal = static_cast<char>(number);
  report.place = programCounter(*static_cast<ucontext_t *>(context));
  if (write(reports, &report, sizeof(report)) < 0)
    exitAtOnce(1);
  exitAtOnce(1);
}

static bool hasOtherThreads() {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != 3;
}

/// Takes the steps in this process, a fork, and ends it.
[[noreturn]] static void take(ArrayRef<ProofStep> steps, int fd) {
  // The tool's handlers would report a crash as its own, or remove its files.
  for (int fatal : {SIGTERM, SIGALRM})
    signal(fatal, SIG_DFL);
  reports = fd;
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    struct sigaction action = {};
    action.sa_sigaction = reportCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaction(fatal, &action, nullptr);
  }
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // It outlives nobody for long; its parent may be a process in between.
  alarm(2 * longest.count());
  // A failed assertion prints a message.
  if (int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0)
    dup2(null, STDERR_FILENO);
  for (const ProofStep &step : steps) {
    std::string answer = step.take();
    if (write(fd, answer.c_str(), answer.size() + 1) < 0)
      break;
  }
  exitAtOnce(0);
}

/// Returns how a fork ended, whose answers are added, and where it crashed.
static std::pair<End, std::string>
proveInFork(ArrayRef<ProofStep> steps, std::vector<std::string> &answers) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {End::Unforked, ""};
  pid_t child = forkQuietly();
  if (child == 0)
    take(steps, ends[1]);
  close(ends[1]);
  Answers read(ends[0]);
  End end = child > 0 ? read.read(steps.size(), answers) : End::Unforked;
  close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    // Fails at once for the child of a child, which is nobody's zombie.
    while (waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  }
  return {end, read.place};
}

/// Returns for each step why it failed.
static std::vector<std::string> proveAll(ArrayRef<ProofStep> steps) {
  bool isShared = hasOtherThreads();
  std::vector<std::string> answers;
  while (answers.size() < steps.size()) {
    size_t first = answers.size();
    auto [end, place] = proveInFork(steps.drop_front(first), answers);
    for (size_t i = first; i < answers.size(); ++i)
      if (steps[i].fact && answers[i].empty())
        ProvedFacts::add(steps[i].fact);
    if (answers.size() == steps.size())
      break;
    if (end == End::Crashed)
      answers.push_back("it crashed when it was tried in a fork" + place);
    else if (end == End::Unforked || isShared)
      answers.resize(steps.size());
    else
      answers.push_back("it did not end when it was tried in a fork");
  }
  return answers;
}

std::vector<std::string> proveInForks(ArrayRef<ProofStep> steps) {
  std::vector<ProofStep> left;
  std::vector<size_t> places;
  std::vector<std::string> answers;
  for (const ProofStep &step : steps) {
    if (!step.fact || !ProvedFacts::has(step.fact)) {
      left.push_back(step);
      places.push_back(answers.size());
    }
    answers.emplace_back();
  }
  std::vector<std::string> found = proveAll(left);
  for (size_t i = 0; i < found.size(); ++i)
    answers[places[i]] = std::move(found[i]);
  return answers;
}

//===----------------------------------------------------------------------===//
// What earlier processes proved
//===----------------------------------------------------------------------===//

namespace {
struct KeptFacts {
  /// Empty where nothing is kept.
  std::string path;
  /// The begin of each line of this process.
  std::string sum;
  std::set<std::string, std::less<>> all;

  void read() {
    detour::MappedFile file(path.c_str(), detour::Writers::ThisUser);
    std::string_view left = file.text();
    for (size_t end; (end = left.find('\n')) != left.npos;
         left.remove_prefix(end + 1)) {
      std::string_view line = left.substr(0, end);
      if (line.substr(0, sum.size()) == sum)
        all.emplace(line.substr(sum.size()));
    }
  }

  /// A file that cannot be written is not missed.
  void append(const std::string &fact) const {
    int fd =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
      return;
    // In one write: other processes append to the file, too.
    std::string line = sum + fact + "\n";
    FileLimit limit;
    ssize_t written = write(fd, line.data(), line.size());
    (void)written;
    close(fd);
  }
};

} // namespace

/// Describes a file by what changes with it; empty if it is none.
static std::string describeFile(const std::string &path,
                                const std::string &buildId) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return "";
  std::string text = buildId.empty() ? path : buildId;
  for (auto part :
       {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec})
    text += " " + std::to_string(part);
  return text + "\n";
}

static ADBG_OF_INSTANCE KeptFacts *kept = nullptr;

static std::mutex &mutex() {
  static std::mutex &only = *new std::mutex;
  return only;
}

void ProvedFacts::open(const std::string &file, const std::string &buildId) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex());
  kept = new KeptFacts;
  const char *folder = getenv("ACTIONDBG_CACHE");
  struct stat status;
  if (!folder || !*folder || buildId.empty() ||
      stat(file.c_str(), &status) != 0)
    return;
  static const char self = 0;
  std::string files = describeFile(Place::of(&self).path, "");
  for (const detour::LoadedObject &object : detour::loadedObjects())
    files += describeFile(object.path, object.buildId);
  kept->sum = std::to_string(llvm::xxh3_64bits(files)) + " ";
  kept->path = std::string(folder) + "/proofs-" + buildId + "-" +
               std::to_string(status.st_size);
  kept->read();
}

bool ProvedFacts::has(const char *fact) {
  std::lock_guard<std::mutex> lock(mutex());
  return kept && kept->all.find(std::string_view(fact)) != kept->all.end();
}

void ProvedFacts::add(const char *fact) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex());
  if (!kept)
    return;
  auto [place, isNew] = kept->all.emplace(fact);
  if (isNew && !kept->path.empty())
    kept->append(*place);
}

//===----------------------------------------------------------------------===//
// Something that a build of MLIR may contradict
//===----------------------------------------------------------------------===//

bool Fact::tries(Check check) {
  // A hook on the way of the check relies on it.
  if (isTried)
    return true;
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex);
  State &state = states[Instances::current()];
  if (state.answer != Answer::Unknown)
    return state.answer == Answer::Proved;
  auto step = [&] {
    isTried = true;
    return check();
  };
  std::string why = proveInForks({{name, step}}).front();
  if (why == nothingTold && ++state.tries < mostTries)
    return false;
  if (why == oneTold && ++state.tries < mostTries)
    return true;
  if (why == oneTold)
    why.clear();
  if (!why.empty())
    state.why = strdup(why.c_str());
  state.answer = why.empty() ? Answer::Proved : Answer::Refuted;
  return why.empty();
}

} // namespace adbg
