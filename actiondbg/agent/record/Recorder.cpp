//===- Recorder.cpp - The recorder of one thread --------------------------===//
//
// A thread writes its buffered rows when the buffer is full. A thread that
// waits, or runs a long action, would write them late, and a crash or kill is
// seen by one thread only. Therefore each thread has a timer that wakes it by a
// signal of its own, and the thread that handles a fatal signal wakes all
// others with the same signal. Only the thread itself touches its buffers, so
// they need no lock.
//
// A recording ends at the exit of the tool, at a crash, and at a signal that
// ends it.
//
//===----------------------------------------------------------------------===//

#include "record/Recorder.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/InputNames.h"
#include "support/OwnFiles.h"
#include "support/SignalStack.h"
#include "support/Traits.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

// Some C libraries do not define it.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace adbg {

Recorder::Recorder(OperationNames &names) : names(names) {
  sections.samples.size = 8 + 8 * Counters::size();
  if (Counters::size())
    counters.open();
  ir = IRKeeper::of(wantedIR, irOf, sections);
  enlist();
}

Recorder::~Recorder() {
  flushNow();
  delist();
}

void Recorder::beginIR(const Frame &frame) {
  int64_t start = Observer::now();
  if (!frame.parent && frame.kind != Kind::Fold && frame.op()) {
    InputNames::all().reached(frame.op());
    if (std::string names = InputNames::all().takeNew(); !names.empty())
      of(Space::Values, names);
  }
  ir->begin(frame);
  irTime += Observer::now() - start;
  irTimes.push_back(irTime);
}

int64_t Recorder::endIR(const Frame &frame) {
  int64_t inside = irTime - irTimes.back();
  irTimes.pop_back();
  int64_t start = Observer::now();
  ir->end(frame);
  irTime += Observer::now() - start;
  return inside;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void Recorder::flush() {
  flushes = flushes + 1;
  if (!isPending())
    return;
  Part actions{SectionKind::Actions, sizeof(ActionRow),
               static_cast<uint32_t>(count), rows.get(),
               count * sizeof(ActionRow)};
  ChunkHeader header;
  header.thread = thread;
  header.firstRow = firstRow;
  header.base = base;
  // The rows of a thread that was busy when its recording ended are dropped.
  if (file == RecordFile::count())
    RecordFile::write(header, actions, sections.all);
  firstRow += count;
  count = 0;
  sections.clear();
}

void Recorder::beginChunk() {
  base = newest;
  wakeIn(longestWait);
}

void Recorder::patch(PatchRow row) {
  if (!count && !sections.patches.count)
    wakeIn(longestWait);
  sections.patches.add(row);
}

void Recorder::left(const Frame &frame) {
  AgentHeap agentHeap; // a crash may have been in the tool's
  Busy busy(*this);
  newest = Observer::now();
  // Not 0, which is the duration of actions that run.
  uint64_t duration =
      std::max<uint64_t>(1, (newest - frame.began) / RecordFile::unit);
  patch({static_cast<uint32_t>(frame.ordinal - 1), 0, frame.changed(), 0,
         duration});
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

uint32_t Recorder::textOfName(const Frame &frame) {
  std::string text;
  raw_string_ostream os(text);
  // A pass is recorded with its argument and its name.
  std::string full =
      frame.pass() ? frame.pass()->getName().str() : frame.fullName();
  os << frame.tag() << '\0' << frame.name() << '\0' << full << '\0';
  auto write = [&](StringRef label) { os << label; };
  llvm::interleave(frame.labels(), os, write, "\x1f");
  if (StringRef unnamed = frame.unnamed(); !unnamed.empty())
    os << '\0' << unnamed;
  return of(Space::Action, text);
}

uint32_t Recorder::nameOfOther(const Frame &frame) {
  if (frame.kind == Kind::Pattern)
    return patternNames.get(foundNameOf(*frame.pattern()).name,
                            [&] { return textOfName(frame); });
  if (frame.kind == Kind::Pass)
    return passNames.get(frame.passName(), [&] { return textOfName(frame); });
  return nameOfText(frame);
}

uint32_t Recorder::nameOfText(const Frame &frame) {
  std::string text = frame.tag().str() + '\0' + frame.text();
  if (textNames.size() == mostTexts)
    textNames.clear();
  uint32_t &name = textNames[text];
  if (!name)
    name = textOfName(frame);
  return name;
}

uint32_t Recorder::writeLocation(Location location) {
  sections.locations.add(strings.rowOf(location, ++lastLocation, 4096));
  return lastLocation;
}

namespace {
/// The symbol names with which functions were last described, by id.
struct DescribedFunctions {
  std::mutex mutex;
  std::unordered_map<uint32_t, const void *> names;

  /// Notes the name of a function; returns whether it had another one.
  bool isRenamed(Operation *function) {
    uint32_t id = ids.of(function);
    if (!id)
      return false;
    const void *name = symbolAttr(function).getAsOpaquePointer();
    std::lock_guard<std::mutex> lock(mutex);
    auto [known, isNew] = names.try_emplace(id, name);
    return std::exchange(known->second, name) != name && !isNew;
  }
};
} // namespace

void Recorder::forgetAll(Operation *op) {
  op->walk([](Operation *one) { ids.forget(one); });
}

/// Notes the name of a function; outdates the descriptions of the operations in
/// it if it had another one.
static void noteName(Operation *function) {
  if (immortal<DescribedFunctions>().isRenamed(function))
    Recorder::forgetAll(function);
}

void Recorder::forgetRenamed(Operation *op) {
  if (!isSymbolTable(op)) {
    if (Operation *function = functionAround(op))
      noteName(function);
    return;
  }
  op->walk<WalkOrder::PreOrder>([](Operation *one) {
    if (isSymbolTable(one))
      return WalkResult::advance();
    if (mayBeFunction(one))
      noteName(one);
    return WalkResult::skip();
  });
}

uint32_t Recorder::findFunction(Operation *op) {
  Operation *holder = op;
  while (holder && !mayBeFunction(holder))
    holder = holder->getParentOp();
  if (!holder)
    return 0;
  // An operation described for its own sake may be about to get its symbol name
  // or its place.
  uint32_t id = ids.of(holder);
  if (id && holder != op && knownFunction.id == id &&
      knownFunction.places == places)
    return knownFunction.function;
  noteName(holder);
  uint32_t function = numberOfSymbol(holder);
  knownFunction = {id, function, places};
  return function;
}

uint32_t Recorder::numberOfSymbol(Operation *holder) {
  // Compare the attribute by identity: reading its text would touch cold
  // memory.
  Attribute own = holder->getAttr(SymbolTable::getSymbolAttrName());
  const void *key = own.getAsOpaquePointer();
  if (uint32_t number = key ? functionNumbers.find(key) : 0)
    return number;
  StringAttr name = symbolAround(holder);
  if (!name)
    return 0;
  uint32_t number = of(Space::Function, name.getValue());
  if (name == own)
    functionNumbers.set(key, number);
  return number;
}

uint32_t Recorder::describeAs(Operation *op, uint32_t id) {
  NameFacts &name = names.of(op);
  if (LLVM_UNLIKELY(!name.number))
    name.number = of(Space::Operation, op->getName().getStringRef());
  uint32_t nameId = name.number;
  uint32_t function = functionOf(op);
  sections.operations.pack({.near = {.row = int64_t(firstRow + count),
                                     .operation = id,
                                     .location = locationOf(op->getLoc()),
                                     .function = function},
                            .far = {.name = nameId}});
  if (LLVM_LIKELY(Layout::offsets.hasRegions))
    sections.regions.pack(
        {.near = {.operation = id}, .far = {.regions = op->getNumRegions()}});
  return function;
}

uint32_t Recorder::describeNew(Operation *op) {
  uint32_t id = ids.describe(op).id;
  // Not inserted in its final place yet: describe it again later.
  if (!describeAs(op, id) && op->getBlock() && !op->getParentOp())
    ids.forget(op);
  return id;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void Recorder::link(LinkKind kind, uint64_t ordinal, uint32_t id,
                    uint32_t from) {
  Busy busy(*this);
  uint64_t difference = zigzag(int64_t(from) - id);
  sections.links.pack({.near = {.row = int64_t(ordinal - 1), .operation = id},
                       .far = {.kind = uint64_t(kind), .source = difference}});
}

void Recorder::uses(Operation *op, uint32_t id, uint64_t ordinal) {
  for (Value value : op->getOperands()) {
    Operation *definer = value ? value.getDefiningOp() : nullptr;
    link(LinkKind::Uses, ordinal, id, definer ? ids.of(definer) : 0);
  }
}

void Recorder::replacements(const Changed &change) {
  ArrayRef<ValueName> by = change.detail.by;
  uint32_t last = 0;
  for (const ValueName &value : by) {
    bool isRecorded = &value == by.begin() && !value.isArgument;
    if (value.id && value.id != last && !isRecorded)
      link(value.isArgument ? LinkKind::ReplacedByArgument : LinkKind::Replaced,
           change.ordinal, value.id, change.id);
    last = value.id;
  }
}

void Recorder::finding(const Frame &frame, Rule rule, Operation *op,
                       StringRef text) {
  Busy busy(*this);
  uint32_t id = op ? describe(op) : 0;
  sections.findings.add(
      {static_cast<uint32_t>(frame.ordinal - 1), id,
       static_cast<uint32_t>(rule),
       text.empty() ? 0 : of(Space::Reason, text.take_front(4096))});
}

void Recorder::dropLastChange() {
  Busy busy(*this);
  // The change may be in a written chunk; then its undo follows in a later one.
  if (sections.changes.count)
    sections.changes.dropLast();
}

void Recorder::beginSample() {
  size_t first = counted.size();
  counted.resize(first + Counters::size());
  if (!counters.read(&counted[first]))
    counted[first] = missing;
}

void Recorder::endSample(const Frame &frame) {
  unsigned size = Counters::size();
  uint64_t now[Counters::most];
  size_t first = counted.size() - size;
  if (counted[first] == missing || !counters.read(now))
    return counted.resize(first);
  uint32_t row[2] = {static_cast<uint32_t>(frame.ordinal - 1), 0};
  sections.samples.append(row, sizeof(row));
  for (unsigned i = 0; i < size; ++i)
    now[i] -= counted[first + i];
  sections.samples.append(now, size * sizeof(uint64_t));
  ++sections.samples.count;
  counted.resize(first);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {
/// The recorders of all live threads.
struct Recorders {
  std::mutex mutex;
  std::vector<Recorder *> all;
  unsigned threads = 0;
};
} // namespace

static Recorders &recorders() { return immortal<Recorders>(); }

void Recorder::sleepFor(int64_t nanoseconds) {
  struct timespec time = {0, long(nanoseconds)};
  nanosleep(&time, nullptr);
}

/// The wake-up signal; 0 if the tool uses all of them.
static int wakeSignal = 0;

/// Takes the highest real-time signal that has no handler.
void Recorder::handleWakeSignal() {
  recorders().threads = 0;
  for (int number = SIGRTMAX; number > SIGRTMIN && !wakeSignal; --number) {
    struct sigaction before = {}, action = {};
    if (sigaction(number, nullptr, &before) != 0 ||
        before.sa_handler != SIG_DFL)
      continue;
    action.sa_handler = onWake;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, nullptr) == 0)
      wakeSignal = number;
  }
}

void Recorder::onWake(int) {
  Recorder *mine = isOn() ? ofThread : nullptr;
  if (!mine)
    return;
  int error = errno;
  if (mine->isBusy)
    mine->wakeIn(millisecond);
  else
    mine->flushNow();
  errno = error;
}

void Recorder::wakeIn(int64_t nanoseconds) {
  if (!hasTimer)
    return;
  struct itimerspec once = {};
  once.it_value.tv_nsec = nanoseconds;
  timer_settime(timer, 0, &once, nullptr);
}

unsigned Recorder::newThread() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  return others.threads++;
}

void Recorder::enlist() {
  ensureSignalStack();
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  thread = others.threads++;
  id = syscall(SYS_gettid);
  others.all.push_back(this);
  ofThread = this;
  if (!wakeSignal)
    return;
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = wakeSignal;
  event.sigev_notify_thread_id = id;
  hasTimer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

void Recorder::delist() {
  Recorders &others = recorders();
  std::lock_guard<std::mutex> lock(others.mutex);
  std::erase(others.all, this);
  if (ofThread == this)
    ofThread = nullptr;
  if (hasTimer)
    timer_delete(timer);
  hasTimer = false;
}

void Recorder::forgetThreads() {
  recorders().all.clear();
  ofThread = nullptr;
}

//===----------------------------------------------------------------------===//
// All threads
//===----------------------------------------------------------------------===//

/// Makes each thread flush its buffers. Runs in a signal handler: threads that
/// block signals are waited for briefly only.
void Recorder::flushEverywhere() {
  if (ofThread)
    ofThread->flushNow();
  Recorders &others = recorders();
  // The interrupted thread may hold the lock.
  std::unique_lock<std::mutex> lock(others.mutex, std::try_to_lock);
  for (int tries = 0; !lock && tries < 20; ++tries) {
    sleepFor(millisecond);
    lock.try_lock();
  }
  if (!lock)
    return;
  std::pair<Recorder *, unsigned> asked[512];
  size_t count = 0;
  for (Recorder *one : others.all)
    if (one != ofThread && one->isPending() && count < std::size(asked)) {
      asked[count++] = {one, one->flushes};
      if (wakeSignal)
        syscall(SYS_tgkill, getpid(), one->id, wakeSignal);
    }
  auto isLeft = [](auto &one) { return one.first->flushes == one.second; };
  for (int tries = 0; tries < 300; ++tries) {
    if (std::none_of(asked, asked + count, isLeft))
      return;
    sleepFor(millisecond);
  }
  for (auto &one : ArrayRef(asked, count))
    if (isLeft(one))
      one.first->flushNow(); // usually a no-op by now
}

//===----------------------------------------------------------------------===//
// The end of a recording
//===----------------------------------------------------------------------===//

namespace {
/// The end that a crash writes; a handler of the tool may recover from it.
struct CrashEnd {
  std::atomic<bool> isBegun{false}, isWritten{false};
  /// The tool's handler has returned: if the tool ends well, it recovered.
  std::atomic<bool> hasReturned{false};
  /// An address that only the thread has which crashed.
  std::atomic<const void *> thread{nullptr};

  bool isOfThisThread() const { return thread == &onlyHere; }
  void begin() { thread = &onlyHere; }

private:
  static thread_local char onlyHere;
};
thread_local char CrashEnd::onlyHere = 0;
} // namespace
static CrashEnd crashing;

void Recorder::writeEnd(const char *text) {
  ChunkHeader header;
  header.thread = ofThread ? ofThread->thread : 0;
  RecordFile::write(header, Part{SectionKind::End, 0, 1, text, strlen(text)});
}

void Recorder::writeExitStatus(int status) {
  char text[64];
  snprintf(text, sizeof(text), "{\"ended\":\"exit\",\"status\":%d}", status);
  writeEnd(text);
}

void Recorder::writeExit(int status) {
  flushEverywhere();
  Stages::finish();
  // A handler of a crash that has not returned ends the tool.
  if (!crashing.isWritten || crashing.hasReturned)
    writeExitStatus(status);
}

void Recorder::finish(int status) {
  if (!isOn())
    return;
  writeExit(status);
  RecordFile::end();
}

off_t Recorder::finishForNow() {
  if (!isOn())
    return -1;
  flushEverywhere();
  off_t size = RecordFile::size();
  writeExit(0);
  return size;
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Writes the inside of a JSON string, as far as there is room. Allocates no
/// memory.
static void escape(StringRef text, char *to, size_t room) {
  size_t size = 0;
  for (char one : text) {
    if (size + 3 > room)
      break;
    if (one == '"' || one == '\\')
      to[size++] = '\\';
    // Control characters other than line ends are left out.
    if (one == '\n') {
      to[size++] = '\\';
      to[size++] = 'n';
    } else if (static_cast<unsigned char>(one) >= ' ') {
      to[size++] = one;
    }
  }
  to[size] = 0;
}

void Recorder::crash() {
  if (!isOn())
    return;
  // The tool may recover from the crash and continue.
  if (tool::crashRecovery && tool::crashRecovery())
    return flushEverywhere();
  if (crashing.hasReturned)
    withdrawCrash();
  if (crashing.isBegun.exchange(true)) {
    // The end of this thread would kill the other one before it has written.
    if (ofThread)
      ofThread->flushNow();
    for (int tries = 0; isOn() && !crashing.isWritten && tries < 1000; ++tries)
      sleepFor(millisecond);
    return;
  }
  crashing.begin();
  flushEverywhere();
  Stages::finish();
  Engine &engine = Engine::known();
  char row[32] = "", message[4096], text[4200];
  if (engine.innermost)
    snprintf(row, sizeof(row), ",\"row\":%llu",
             static_cast<unsigned long long>(engine.innermost->ordinal - 1));
  escape(engine.end.cause(), message, sizeof(message));
  snprintf(text, sizeof(text),
           "{\"ended\":\"crash\",\"signal\":%d%s,\"message\":\"%s\"}",
           int(engine.end.crashSignal), row, message);
  writeEnd(text);
  crashing.isWritten = true;
}

void Recorder::mayRecover() {
  if (crashing.isOfThisThread())
    crashing.hasReturned = true;
}

void Recorder::withdrawCrash() {
  crashing.hasReturned = false;
  if (!crashing.isWritten.exchange(false))
    return;
  if (isOn())
    writeEnd("{\"ended\":\"recovered\"}"); // of several ends the last counts
  crashing.isBegun = false;
}

void Recorder::recover() {
  // Another thread may have crashed since this one did.
  if (crashing.isOfThisThread())
    withdrawCrash();
}

// The tool's handlers of termination signals.
static struct sigaction endActions[NSIG];

void Recorder::raiseEndSignal() { raise(std::exchange(endSignal, 0)); }

/// Flushes all threads, then calls the tool's own handler, which may end it.
void Recorder::onEnd(int number, siginfo_t *info, void *context) {
  if (isOn() && ofThread && ofThread->isBusy) {
    endSignal = number; // comes again when the buffers can be written
    return;
  }
  if (isOn())
    flushEverywhere();
  const struct sigaction &tool = endActions[number];
  if (tool.sa_flags & SA_SIGINFO)
    return tool.sa_sigaction(number, info, context);
  if (tool.sa_handler != SIG_DFL)
    return tool.sa_handler(number);
  if (isOn()) {
    writeExitStatus(-number);
    RecordFile::end();
  }
  ::signal(number, SIG_DFL);
  raise(number);
}

void Recorder::handleEndSignals() {
  static bool isHandled = false;
  if (std::exchange(isHandled, true))
    return;
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
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

//===----------------------------------------------------------------------===//
// The start of a recording
//===----------------------------------------------------------------------===//

bool Recorder::start(const RecordSettings &settings, bool isThreaded) {
  Counters::configure(settings.events);
  if (!RecordFile::begin(settings.path.c_str(), settings.header(isThreaded))) {
    if (settings.names)
      llvm::errs() << "actiondbg: " << settings.path << " cannot be written ("
                   << strerror(errno) << "): name another file\n";
    return false;
  }
  wantedIR = settings.ir == "function"  ? IRDetail::Function
             : settings.ir == "changed" ? IRDetail::Changed
             : settings.ir == "pass"    ? IRDetail::Pass
                                        : IRDetail::None;
  irOf = Ordinals::of(settings.irOf);
  wantsOutput = !settings.ir.empty() && settings.ir != "none";
  wantsLineage = !settings.lineage.empty();
  PatternChecks::areOn = !settings.checks.empty();
  wantsOneThread = !settings.oneThread.empty();
  wantsReversed = !settings.reversed.empty();
  Stages::begin();
  handleEndSignals();
  handleWakeSignal();
  return true;
}

} // namespace adbg
