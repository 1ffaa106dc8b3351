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

/// A step takes milliseconds.
static constexpr std::chrono::seconds longest(10);

namespace {
/// How a fork reports where it crashes, in place of an answer.
struct CrashReport {
  static constexpr char mark = 1;
  char begin = mark;
  char signal = 0;
  const void *place = nullptr;
};

/// In a fork, where crashes are reported.
int reports = -1;
} // namespace

/// Reads what a fork wrote: a text for each step that is over, and a 0 after
/// it; then perhaps the report of a crash. Adds up to `count` texts to
/// `answers`, and returns where it crashed: the end of a sentence; empty if
/// that is unknown.
static std::string readAnswers(StringRef text, size_t count,
                               std::vector<std::string> &answers) {
  for (; count && !text.empty() && text.front() != CrashReport::mark; --count) {
    auto [answer, rest] = text.split('\0');
    if (answer.size() == text.size())
      return ""; // it ended while it wrote
    answers.push_back(answer.str());
    text = rest;
  }
  CrashReport report;
  if (text.size() != sizeof(report))
    return "";
  memcpy(&report, text.data(), sizeof(report));
  std::string place = std::string(": ") + strsignal(report.signal);
  if (Place found = Place::of(report.place); found.isKnown())
    place += " at " + found.offsetOf(report.place);
  return place;
}

static void reportCrash(int number, siginfo_t *, void *context) {
  CrashReport report;
  report.signal = static_cast<char>(number);
  report.place = programCounter(*static_cast<ucontext_t *>(context));
  if (write(reports, &report, sizeof(report)) < 0)
    exitAtOnce(1);
  exitAtOnce(1);
}

/// Takes the steps in this process, a fork.
static void take(ArrayRef<ProofStep> steps, int fd) {
  // A signal to the tool's group that the tool survives refutes nothing.
  setpgid(0, 0);
  // The tool's handler would remove its files.
  signal(SIGINT, SIG_DFL);
  reports = fd;
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    struct sigaction action = {};
    action.sa_sigaction = reportCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaction(fatal, &action, nullptr);
  }
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // A failed assertion prints a message.
  if (int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0)
    dup2(null, STDERR_FILENO);
  for (const ProofStep &step : steps) {
    std::string answer = step.take();
    // A text of the tool may have a 0 in it.
    if (write(fd, answer.c_str(), strlen(answer.c_str()) + 1) < 0)
      break;
  }
}

/// Returns for each step why it failed.
static std::vector<std::string> proveAll(ArrayRef<ProofStep> steps) {
  bool isShared = !isSingleThreaded();
  std::vector<std::string> answers;
  while (answers.size() < steps.size()) {
    size_t first = answers.size();
    ForkEnd end =
        runInFork([&](int fd) { take(steps.drop_front(first), fd); }, longest);
    std::string place = readAnswers(end.text ? *end.text : end.unfinished,
                                    steps.size() - first, answers);
    for (size_t i = first; i < answers.size(); ++i)
      if (steps[i].fact && answers[i].empty())
        ProvedFacts::add(steps[i].fact);
    if (answers.size() == steps.size())
      break;
    if (!end.isForked || (!end.text && isShared))
      answers.resize(steps.size());
    else if (end.text)
      answers.push_back("it crashed when it was tried in a fork" + place);
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

static std::mutex mutex;

void ProvedFacts::open(const std::string &file, const std::string &buildId) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex);
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
  std::lock_guard<std::mutex> lock(mutex);
  return kept && kept->all.find(std::string_view(fact)) != kept->all.end();
}

void ProvedFacts::add(const char *fact) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex);
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
