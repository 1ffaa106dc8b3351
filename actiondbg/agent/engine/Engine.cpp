#include "engine/Engine.h"
#include "engine/Describe.h"
#include "fork/Forks.h"
#include "print/InputNames.h"
#include "requests/Request.h"

#include <ucontext.h>

namespace adbg {

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

void Engine::attach(const std::string &socket) {
  local.isFollowed = true;
  turns.begin();
  pid = getpid();
  trace.begin();
  connection.open(socket);
  Connection::onLost = [] { first().detach(); };
  Connection::onForce = [] { first().turns.stopInside(); };
  Connection::passesOn = [] { return first().turns.passesInterrupt(); };
  // Other threads wait while the first requests are served.
  turns.baton.take(Baton::Patience::Always);
  attached = true;
  EndReport::watch();
  connection.notify("hello", hello(*this));
  stops.resumption.fromStart = true;
  stops.serve();
  breakpoints.findEnds(nullptr);
  local.isFollowed = !turns.isShared();
  turns.baton.give();
}

void Engine::abandon() {
  attached = false;
  trace.forked(/*compares=*/false);
  RecordFile::abandon();
  UpstreamLog::abandon();
  connection.abandon();
}

void Engine::join() {
  pid = getpid();
  attached = true;
  isForked = false;
  stops.hitLog.abandon();
  legalizations.file.abandon();
  SilentStreams::reach(position.event);
  connection.notify("hello", hello(*this));
}

void Engine::makeCheckpoint() {
  if (turns.whyNoFork())
    return;
  AgentHeap agentHeap;
  auto clock = [this] { return observer.ranFor(); };
  if (forks.checkpoints.isDue(position.event, clock()) &&
      forks.forkCheckpoint(position.event, clock, [this] {
        trace.forked(/*compares=*/false);
        join();
      }) == 0) {
    stops.serve();
    stops.setTargets(innermost);
  }
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void Engine::dispatch(Frame &frame, function_ref<void()> run) {
  frame.isAlternative = alternative && alternative->isRunning();
  if (!begin(frame))
    return;
  if (LLVM_UNLIKELY(alternative != nullptr))
    alternative->run(*this, frame, run);
  else if (!frame.skipped)
    run();
  finish(frame);
}

bool Engine::begin(Frame &frame) {
  AgentHeap agentHeap;
  if (LLVM_UNLIKELY(position.event >= forks.checkpoints.nextCheck))
    makeCheckpoint();
  bool isAlert = mayStop();
  if (LLVM_UNLIKELY(skips.plan != nullptr) && !isAlert && !observer.recorder &&
      skips.plan->skipsUncounted(frame, innermost, position.ordinal)) {
    ++position.ordinal;
    position.event += 2;
    SilentStreams::reach(position.event);
    knownNames.number(frame);
    return false;
  }
  Frame *parent = innermost;
  if (!parent && !isObserving && frame.kind != Kind::Fold)
    if (Operation *op = frame.op()) {
      meet(op);
      InputNames::all().reached(op);
    }
  if (frame.kind == Kind::Iteration)
    ++local.iterations;
  frame.parent = parent;
  frame.depth = parent ? parent->depth + 1 : 0;
  if (!parent && frame.kind == Kind::Pass)
    keepCrashSignals();
  frame.ordinal = ++position.ordinal;
  ++position.event;
  SilentStreams::reach(position.event);
  knownNames.number(frame);
  trace.note(frame);
  frame.tally.first = observer.log.end();
  frame.tally.firstId = ids.upcoming();
  if (parent)
    frame.conversion = parent->isConversion() ? parent : parent->conversion;
  if (LLVM_UNLIKELY(isAlert || skips.plan)) {
    before(frame);
    if (LLVM_UNLIKELY(frame.skipped))
      skips.count(frame);
    isAlert = mayStop(); // a stop may have changed it
  } else {
    innermost = &frame;
  }
  observer.isDetailed = isAlert && needsChanges();
  observer.isTallied = isAlert || counts || observer.recorder ||
                       (skips.plan && skips.plan->isRecorded());
  observer.forgetFold();
  observer.begin(frame, counts);
  if (LLVM_UNLIKELY(observer.recorder != nullptr))
    recordBegin(frame);
  return true;
}

void Engine::recordBegin(Frame &frame) {
  Operation *op = frame.firstOp();
  // A front end that builds IR folds, too: the input is not complete then.
  if (op && !frame.parent && frame.kind != Kind::Fold &&
      Recorder::keepsOutput())
    Stages::reached(op, *observer.recorder);
  if (frame.contextNumber != Contexts::unknown)
    observer.recorder->enterContext(frame.contextNumber);
  NameFacts *folded = frame.kind == Kind::Fold ? &names.of(op) : nullptr;
  observer.recorder->begin(frame, frame.kind, op, folded);
}

void Engine::finish(Frame &frame) {
  AgentHeap agentHeap;
  frame.over = true;
  ++position.event;
  SilentStreams::reach(position.event);
  observer.end(frame, counts);
  if (LLVM_UNLIKELY(observer.recorder != nullptr))
    observer.recorder->end(frame, Observer::now());
  if (LLVM_UNLIKELY(mayStop() || skips.plan || !frame.rare().stopAfter.empty()))
    after(frame);
  if (frame.isRealPass()) {
    lastPass = Culprit::of(frame);
    lastPassOn = OperationHandle(frame.op());
  }
  observer.leave(frame);
}

void Engine::before(Frame &frame) {
  Notice notice;
  if (LLVM_UNLIKELY(looksBetween()))
    between(frame, notice);
  innermost = &frame;
  stops.beginEvent();
  if (LLVM_UNLIKELY(!editPlan.empty()))
    edit(notice);
  bool isOwnPass = frame.isAlternative && frame.kind == Kind::Pass;
  if (!isOwnPass && skips.decide(frame))
    frame.skipped = true;
  if (!isOwnPass)
    stopBefore(frame, notice);
  planObservation(frame);
}

void Engine::edit(Notice &notice) {
  std::string why = editPlan.apply(*this);
  if (why.empty())
    return;
  notice.reason = "interrupt";
  notice.message = "an edit of this timeline cannot be applied: " + why;
}

/// Attributes events up to here to the enclosing action.
void Engine::between(Frame &frame, Notice &notice) {
  if (frame.ordinal == 1)
    for (Breakpoint *one : observer.watches)
      if (!one->log)
        one->watch->dropEvents(opAround(&frame));
  breakpoints.hitWatches(frame, notice);
  // Of what a pass does by itself, before it runs patterns.
  bool isOwnWork = frame.kind == Kind::Iteration;
  if (verifier.isOn && (isOwnWork || observer.culpritNow().guess))
    verify(frame, notice);
}

void Engine::planObservation(Frame &frame) {
  const Resumption &resumption = stops.resumption;
  uint64_t event = position.event;
  bool isStep = resumption.stepsOver(frame);
  // Its end may be the event to stop at: only if that event is near.
  bool isNear = resumption.event > event && resumption.event - event <= 1000;
  bool isWanted = isStep || isNear || !frame.rare().stopAfter.empty() ||
                  !frame.rare().undecided.empty() || frame.untilResults;
  if (!isWanted)
    return;
  frame.wantsReasons =
      isStep || isNear || frame.kind == Kind::Fold ||
      !frame.rare().stopAfter.empty() ||
      (frame.untilResults && (!resumption.until || !resumption.until->outcome ||
                              resumption.until->outcome->needsReasons()));
  frame.wantsReasons |= breakpoints.needReasons(frame);
  // Digesting a function costs more than most actions: only for single steps,
  // passes and operations of schedules.
  frame.wantsModified = frame.isRealPass() || frame.kind == Kind::Step ||
                        (isStep && frame.depth == resumption.depth) ||
                        resumption.event == event + 1;
}

/// Counts a finished action for the greedy driver around it. Returns a message
/// if the driver rewrites far more often than it has operations; otherwise an
/// empty string.
static std::string checkConvergence(Frame &frame) {
  bool isRewrite = frame.kind == Kind::Pattern || frame.kind == Kind::Fold;
  if (!isRewrite || !frame.changed())
    return "";
  Frame *driver = frame.parent;
  while (driver && !driver->isGreedyIteration() && driver->kind != Kind::Pass)
    driver = driver->parent;
  // A conversion rewrites each operation once, new operations included.
  if (!driver || frame.conversion)
    return "";
  uint64_t rewrites = ++driver->rewrites;
  if (rewrites < 1024 || (rewrites & (rewrites - 1)) != 0)
    return "";
  uint64_t operations = 0;
  if (Operation *op = driver->op())
    op->walk([&](Operation *) { ++operations; });
  // Operations are rarely rewritten more than a few times before the driver
  // converges.
  if (rewrites < 32 * operations)
    return "";
  return "the greedy driver does not converge: " + std::to_string(rewrites) +
         " rewrites of only " + std::to_string(operations) + " operations";
}

void Engine::after(Frame &frame) {
  if (!attached) // since its beginning: by a fork, or by the front end
    return;
  stops.beginEvent();
  if (skips.plan)
    skips.plan->over(frame, position.ordinal);
  Notice notice;
  if (LLVM_UNLIKELY(!editPlan.empty()))
    edit(notice);
  bool isPlain = !looksBetween() && !breakpoints.catchesAny() &&
                 !stops.resumption.mayStop() &&
                 frame.rare().stopAfter.empty() &&
                 frame.rare().undecided.empty();
  if (LLVM_LIKELY(isPlain && notice.reason.empty()))
    return;
  breakpoints.hitWatches(frame, notice);
  if (verifier.isOn && frame.changed())
    verify(frame, notice);
  if (breakpoints.catches(CatchKind::Nonconvergence))
    if (std::string text = checkConvergence(frame); !text.empty())
      caught({CatchKind::Nonconvergence, text});
  breakpoints.hitAfter(frame, notice);
  if (!notice.reason.empty() && stops.passesHits())
    return stops.passHit();
  if (notice.isHit() && stops.resumption.passesHit())
    notice = Notice();
  if (!notice.reason.empty())
    return stops.stop(frame, notice);
  stopAfter(frame);
}

void Engine::verify(Frame &frame, Notice &notice) {
  Silence silence;
  std::string why = verifier.check(frame);
  if (why.empty())
    return;
  notice.reason = "verify";
  notice.message = "the IR is no longer valid: " + why;
  notice.culprit = observer.culpritNow();
  notice.about = verifier.invalid();
}

//===----------------------------------------------------------------------===//
// Stops
//===----------------------------------------------------------------------===//

void Engine::stopBefore(Frame &frame, Notice &notice) {
  Resumption &resumption = stops.resumption;
  bool isInterrupted = stops.isInterrupted();
  ArrayRef<Candidate> candidates;
  if (!breakpoints.empty())
    candidates = breakpoints.candidatesFor(frame);
  if (LLVM_LIKELY(candidates.empty() && !isInterrupted &&
                  !resumption.mayStop() && notice.reason.empty()))
    return;
  breakpoints.hitBefore(frame, candidates, notice);
  bool isHit = !notice.hit.empty();
  bool isUsedUp = resumption.usesUp(frame, /*over=*/false);
  if (stops.passesHits()) {
    if (isHit || !notice.reason.empty())
      stops.passHit();
    if (!isInterrupted)
      return;
    isHit = false;
    notice = Notice();
  }
  Results results =
      resumption.until ? resumption.until->spec.resultsFor(frame) : noResult;
  if (resumption.isForEnds())
    frame.untilResults = std::exchange(results, noResult);
  bool isReached = results || resumption.event == position.event;
  if (!notice.reason.empty())
    ; // of a watch, a failed edit or invalid IR before the action
  else if (isInterrupted)
    notice.reason = "interrupt";
  else if (isHit)
    notice.reason = "breakpoint";
  else if (isUsedUp)
    notice.reason = resumption.reason();
  else if (isReached)
    notice.reason = "until";
  else
    return;
  if (!isInterrupted && notice.isHit() && resumption.passesHit())
    frame.skipped |= resumption.control == Control::Skip;
  else
    stops.stop(frame, notice);
}

void Engine::stopAfter(Frame &frame) {
  Resumption &resumption = stops.resumption;
  Notice notice;
  bool isUsedUp = resumption.usesUp(frame, /*over=*/true);
  const std::optional<Until> &until = resumption.until;
  bool isLeft = until && until->within && frame.depth < resumption.depth;
  bool isReached =
      (frame.untilResults & asSet(frame.result())) && until &&
      (!until->outcome || until->outcome->matches(frame, until->own));
  if (isReached && resumption.count > 1) {
    --resumption.count;
    isReached = false;
  }
  if (isUsedUp)
    notice.reason = resumption.reason();
  else if (isLeft || isReached || resumption.event == position.event)
    notice.reason = "until";
  if (!notice.reason.empty())
    stops.stop(frame, notice);
}

//===----------------------------------------------------------------------===//
// Stops inside an action
//===----------------------------------------------------------------------===//

/// The action before the first one.
static Frame &noFrame() {
  auto &none = immortal<Frame>();
  none.over = true;
  return none;
}

Operation *Engine::diagnosedBy(const Diagnostic &diagnostic) {
  Operation *root = lastPassOn.get();
  for (Frame *frame = innermost; frame; frame = frame->parent)
    if (Operation *op = frame->op())
      root = op;
  return diagnosed.at(diagnostic.getLocation(), root);
}

void Engine::failsWith(StringRef error, Operation *op) {
  OperationHandle handle(op);
  for (Frame *frame = innermost; frame; frame = frame->parent) {
    Rare &rare = frame->needRare();
    if (rare.error.empty())
      rare.error = error.split('\n').first.str();
    if (op && !rare.failing.get())
      rare.failing = handle;
  }
}

void Engine::caught(const Event &event, Operation *about,
                    std::optional<Culprit> culprit) {
  Frame &frame = innermost ? *innermost : noFrame();
  Notice notice;
  notice.reason = "catch";
  notice.message = event.text.str();
  notice.culprit = std::move(culprit);
  notice.about = about;
  if (!notice.culprit && innermost)
    notice.culprit = Culprit::of(*innermost);
  else if (!notice.culprit && lastPass.ordinal)
    notice.culprit = lastPass;
  stops.inside = true;
  breakpoints.hitCatches(event, frame, notice);
  bool isStop = !notice.hit.empty();
  if (!isStop && event.kind == CatchKind::Crash && end.stopsOnCrash &&
      forks.role == Role::Tool) {
    notice.reason = "crash";
    isStop = true;
  }
  if (isStop && stops.passesHits())
    stops.passHit();
  else if (isStop && !(notice.isHit() && stops.resumption.passesHit()))
    stops.stop(frame, notice);
  stops.inside = false;
}

void Engine::stopInside() {
  // This stop answers every interrupt that has arrived.
  while (connection.poll()) {
  }
  Frame &frame = innermost ? *innermost : noFrame();
  Notice notice;
  notice.reason = "interrupt";
  notice.message = "interrupted inside the action";
  stops.inside = stops.isForced = true;
  stops.stop(frame, notice);
  stops.inside = stops.isForced = false;
}

//===----------------------------------------------------------------------===//
// The end of the tool
//===----------------------------------------------------------------------===//

struct AbortMessage {
  unsigned size;
  char text[1];
};

EndReport::EndReport(Engine &engine)
    : engine(engine), abortMessage(static_cast<AbortMessage **>(dlvsym(
                          RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"))) {}

void EndReport::watch() {
  handleCrashSignals();
  on_exit([](int status, void *) { Engine::first().end.exitStatus = status; },
          nullptr);
}

void EndReport::finishPlanFirst() {
  on_exit(
      [](int, void *) {
        Engine &engine = Engine::first();
        if (!engine.isAttached() || !engine.skips.plan) // a fork of the tool
          return;
        Turn turn(engine, Turn::For::End);
        engine.end.finishPlan();
        engine.skips.plan->closeRecord();
      },
      nullptr);
}

void EndReport::finishPlan() {
  if (engine.skips.plan)
    engine.skips.plan->finish(engine.innermost, engine.position.ordinal);
}

void EndReport::finishFiles() {
  engine.stops.hitLog.flush();
  engine.legalizations.file.flush();
  finishPlan();
  finishAlternative(engine);
}

void EndReport::exit() {
  Recorder::finish(exitStatus);
  sendExit();
}

/// Sends a report, with the fields that every end has.
void EndReport::send(StringRef method, Object end) {
  end["event"] = int64_t(engine.position.event);
  end["written"] = describeWritten();
  end["hits"] = engine.breakpoints.describe();
  engine.trace.describe(end);
  end["unforkable"] = engine.turns.whyNoFork();
  engine.connection.notify(method, std::move(end));
}

void EndReport::sendExit() {
  if (!engine.isAttached() || !engine.isConnected())
    return;
  // Another thread may be at a stop, and waiting threads must not begin.
  Turn turn(engine, Turn::For::End);
  finishFiles();
  engine.trace.end(engine.position.ordinal);
  send("exited", Object{{"actions", int64_t(engine.position.ordinal)},
                        {"status", exitStatus & 0xff}});
  // Threads that are left run on.
  if (engine.turns.isShared())
    engine.abandon();
}

/// Runs `function` on a stack of its own: a signal handler's stack is too small
/// to print IR.
static void onLargeStack(void (*function)()) {
  size_t size = 64 << 20;
  void *stack = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED)
    return;
  static ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, function, 0);
  swapcontext(&here, &there);
}

/// Returns the message with which LLVM aborts, at the end of what the tool
/// wrote to stderr; empty if there is none.
static StringRef fatalMessage(StringRef written) {
  written = written.rtrim();
  StringRef last = written.substr(written.rfind('\n') + 1);
  if (last.starts_with("LLVM ERROR: "))
    return last;
  // llvm_unreachable writes its message in the line before.
  if (!last.contains("UNREACHABLE executed"))
    return "";
  StringRef before = written.drop_back(last.size()).rtrim();
  return written.substr(before.rfind('\n') + 1);
}

void EndReport::noteCause() {
  static char written[Files::keptErrors];
  AbortMessage *failed = abortMessage ? *abortMessage : nullptr;
  StringRef message = failed
                          ? StringRef(failed->text).rtrim()
                          : fatalMessage({written, Files::lastErrors(written)});
  causeSize = std::min(message.size(), sizeof(causeText));
  memcpy(causeText, message.data(), causeSize);
}

void EndReport::crash(int signal) {
  crashSignal = signal;
  if (std::exchange(isCrashing, true))
    return;
  noteCause();
  // The tool did not cause a crash while a request is served.
  Turn turn(engine, Turn::For::End);
  bool isWanted = stopsOnCrash || engine.breakpoints.catches(CatchKind::Crash);
  if (isWanted && engine.isConnected() && turn)
    onLargeStack([] {
      EndReport &end = Engine::get().end;
      std::string text = signalName(end.crashSignal);
      if (!end.cause().empty())
        text += ": " + end.cause().str();
      Engine::get().caught({CatchKind::Crash, text});
    });
  // The tool may recover from a crash, and crash again.
  isCrashing = false;
}

void EndReport::sendCrash() {
  if (!engine.isConnected())
    return;
  // The thread that has the turn owns the stack of actions.
  Turn turn(engine, Turn::For::End);
  finishFiles();
  Object crash{{"ordinal", 0},
               {"tag", ""},
               {"name", ""},
               {"op", nullptr},
               {"context", nullptr},
               {"depth", 0},
               {"signal", int64_t(crashSignal)},
               {"message", textOrNull(cause())}};
  if (engine.hasFramesHere()) {
    addAction(crash, *engine.innermost);
    if (Operation *op = engine.innermost->op())
      crash["op"] = op->getName().getStringRef();
  }
  send("crashed", std::move(crash));
}

} // namespace adbg
