//===- Recording.cpp - The recording of a process: its begin and its end --===//

#include "Describe.h"
#include "Engine.h"
#include "Versions.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <mutex>
#include <sys/prctl.h>
#include <unistd.h>

using llvm::StringRef;

namespace adbg {

namespace {
/// The recorders of the threads that live.
struct Recorders {
  std::mutex mutex;
  std::vector<Recorder *> all;
  unsigned threads = 0;
};
} // namespace

static Recorders &recorders() {
  // Never destroyed: threads may outlive main.
  static auto *recorders = new Recorders;
  return *recorders;
}

static thread_local Recorder *ofThisThread = nullptr;
RecordedIR Recorder::wantedIR = RecordedIR::None;

void Recorder::enlist() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  thread = others.threads++;
  others.all.push_back(this);
  ofThisThread = this;
}

void Recorder::delist() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  llvm::erase(others.all, this);
  ofThisThread = nullptr;
}

static llvm::json::Array commandLine() {
  llvm::json::Array words;
  auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/cmdline");
  if (!text)
    return words;
  llvm::SmallVector<StringRef> parts;
  StringRef((*text)->getBuffer()).rtrim('\0').split(parts, '\0');
  for (StringRef part : parts)
    words.push_back(safe(part));
  return words;
}

static std::string headerText(bool isThreaded, StringRef ir) {
  llvm::json::Array events;
  for (unsigned i = 0; i < Counters::size(); ++i)
    events.push_back(Counters::name(i));
  char directory[4096] = "";
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object{
      {"agent", "preload"},
      {"llvm", LLVM_VERSION_STRING},
      {"pid", int64_t(getpid())},
      {"argv", commandLine()},
      {"cwd", safe(getcwd(directory, sizeof(directory)) ? directory : "")},
      {"started", time.tv_sec * 1000000000ll + time.tv_nsec},
      {"ir", ir.empty() ? "none" : ir},
      {"events", std::move(events)},
      {"threads", isThreaded}});
  return text;
}

static void writeEnd(const char *text, unsigned thread) {
  ChunkHeader header;
  header.thread = thread;
  RecordFile::write(header, Part{SectionKind::End, 0, 1, text, strlen(text)});
}

void Recorder::flushAll() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  for (Recorder *one : others.all)
    one->flushNow(); // a thread that still runs may be at it
}

void Recorder::finish(int status) {
  if (!isOn())
    return;
  flushAll();
  char text[64];
  snprintf(text, sizeof(text), "{\"ended\":\"exit\",\"status\":%d}", status);
  writeEnd(text, 0);
  RecordFile::abandon();
}

/// In the handler of a signal: what this thread knows is written, and nothing
/// is made or waited for.
void Recorder::crashed() {
  if (!isOn())
    return;
  Engine &engine = Engine::known();
  if (Recorder *mine = ofThisThread)
    mine->flushNow();
  char text[96];
  if (engine.innermost)
    snprintf(text, sizeof(text),
             "{\"ended\":\"crash\",\"signal\":%d,\"row\":%llu}",
             int(engine.crashSignal),
             static_cast<unsigned long long>(engine.innermost->ordinal - 1));
  else
    snprintf(text, sizeof(text), "{\"ended\":\"crash\",\"signal\":%d}",
             int(engine.crashSignal));
  writeEnd(text, ofThisThread ? ofThisThread->thread : 0);
  RecordFile::abandon();
}

// What the tool does when it is asked to end.
static struct sigaction endActions[NSIG];

/// What this thread knows is written, before the tool ends, if it does.
void Recorder::onEnd(int number, siginfo_t *info, void *context) {
  if (Recorder *mine = isOn() ? ofThisThread : nullptr)
    mine->flushNow();
  const struct sigaction &tool = endActions[number];
  if (tool.sa_flags & SA_SIGINFO)
    return tool.sa_sigaction(number, info, context);
  if (tool.sa_handler != SIG_DFL)
    return tool.sa_handler(number);
  ::signal(number, SIG_DFL);
  raise(number);
}

void Recorder::listenToEnds() {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(number, nullptr, &endActions[number]);
    if (endActions[number].sa_handler == SIG_IGN)
      continue;
    action.sa_sigaction = onEnd;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

bool Recorder::start(const RecordOrder &order, bool isThreaded) {
  Counters::configure(order.events);
  std::string header = headerText(isThreaded, order.ir);
  if (!RecordFile::begin(order.path.c_str(), header)) {
    llvm::errs() << "actiondbg: " << order.path << " cannot be written ("
                 << strerror(errno) << "): name another file\n";
    return false;
  }
  wantedIR = order.ir == "function"  ? RecordedIR::Function
             : order.ir == "changed" ? RecordedIR::Changed
                                     : RecordedIR::None;
  llvm::sys::AddSignalHandler([](void *) { Recorder::crashed(); }, nullptr);
  listenToEnds();
  return true;
}

} // namespace adbg
