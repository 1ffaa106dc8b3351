//===- Engine.cpp - The stream of actions and where it stops
//----------------===//

#include "engine/Engine.h"
#include "engine/Describe.h"
#include "interpose/Versions.h"
#include "support/JsonRpc.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

void Engine::attach(const std::string &socket) {
  here.isHome = true;
  pid = getpid();
  connection.open(socket);
  Connection::onForce = [] {
    if (here.isHome && first().follows())
      first().stopInside();
  };
  attached = true;
  llvm::sys::AddSignalHandler([](void *) { first().sendCrash(); }, nullptr);
  on_exit([](int status, void *) { first().exitStatus = status; }, nullptr);
  connection.notify("hello", hello(*this));
  resumption.fromStart = true;
  serve();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Engine::dispatch(Frame &frame, llvm::function_ref<void()> run) {
  if (LLVM_UNLIKELY(event >= checkpoints.lookAt))
    look();
  bool isAlert = mayStop();
  if (LLVM_UNLIKELY(plan != nullptr) && !isAlert &&
      plan->leavesOut(frame, innermost, ordinal)) {
    ++ordinal;
    event += 2;
    return number(frame);
  }
  Frame *parent = innermost;
  frame.parent = parent;
  frame.depth = parent ? parent->depth + 1 : 0;
  frame.ordinal = ++ordinal;
  ++event;
  number(frame);
  frame.tally.first = observer.log.end();
  frame.tally.firstId = observer.ids.upcoming();
  if (parent)
    frame.conversion = parent->isConversion() ? parent : parent->conversion;
  if (LLVM_UNLIKELY(isAlert || plan)) {
    before(frame);
    isAlert = mayStop(); // a stop may have changed it
  } else {
    innermost = &frame;
  }
  observer.isDetailed = isAlert && mayTell();
  observer.isTallied = isAlert || counts || (plan && plan->isRecorded());
  observer.forgetFold();
  observer.begin(frame, counts);
  if (!frame.skipped)
    run();
  frame.over = true;
  ++event;
  observer.end(frame, counts);
  if (LLVM_UNLIKELY(mayAct() || !frame.rare().stopAfter.empty()))
    after(frame);
  if (frame.kind == Kind::Pass && !frame.isAdaptor())
    lastPass = {frame.ordinal, "pass-execution", frame.name(), false};
  observer.leave(frame);
}

void Engine::before(Frame &frame) {
  Notice notice;
  if (LLVM_UNLIKELY(looksBetween()))
    between(frame, notice);
  innermost = &frame;
  insideHits = 0;
  if (LLVM_UNLIKELY(!toSkip.empty()) &&
      llvm::binary_search(toSkip, frame.ordinal))
    frame.skipped = true;
  if (plan && plan->skips(frame, observer.ids))
    frame.skipped = true;
  stopBefore(frame, notice);
  if (frame.skipped && !frame.isPlanned)
    skipped.push_back(frame.ordinal);
  lookAhead(frame);
}

/// What happened up to here is the doing of what is around this action.
void Engine::between(Frame &frame, Notice &notice) {
  if (frame.ordinal == 1)
    for (Breakpoint *one : observer.watches)
      if (!one->log)
        one->watch->settle();
  hitWatches(frame, notice);
  if (verifiesEach && observer.culpritNow().guess)
    verifyAfter(frame, notice);
}

/// What has to be found out while the action runs, as a stop may follow.
void Engine::lookAhead(Frame &frame) {
  Control control = resumption.control;
  bool isStep = control == Control::Step ||
                (control == Control::Next && frame.depth <= resumption.depth) ||
                (control == Control::Finish && frame.depth < resumption.depth);
  // Its end may be the event that is gone to: of what comes shortly before it.
  bool isNear = resumption.event > event && resumption.event - event <= 1000;
  bool isWanted = isStep || isNear || !frame.rare().stopAfter.empty() ||
                  !frame.rare().undecided.empty() || frame.untilMatches;
  if (!isWanted)
    return;
  frame.wantsReasons =
      isStep || isNear || frame.kind == Kind::Fold ||
      !frame.rare().stopAfter.empty() ||
      (frame.untilMatches &&
       (!resumption.outcome || resumption.outcome->needsReasons()));
  for (const Breakpoint &one : breakpoints)
    frame.wantsReasons |= llvm::is_contained(frame.rare().undecided, one.id) &&
                          one.outcome->needsReasons();
  // To look at all of a function costs more than most actions: only where a
  // person goes step by step, and for passes.
  frame.wantsModified = (frame.kind == Kind::Pass && !frame.isAdaptor()) ||
                        (isStep && frame.depth == resumption.depth) ||
                        resumption.event == event + 1;
}

void Engine::after(Frame &frame) {
  insideHits = 0;
  if (plan)
    plan->over(frame, ordinal);
  bool isPlain = !looksBetween() && !catching && !resumption.until &&
                 !resumption.event && resumption.control < Control::Step &&
                 frame.rare().stopAfter.empty() &&
                 frame.rare().undecided.empty();
  if (LLVM_LIKELY(isPlain))
    return;
  Notice notice;
  hitWatches(frame, notice);
  if (verifiesEach && frame.changed())
    verifyAfter(frame, notice);
  if (catching)
    checkConvergence(frame);
  hitAfter(frame, notice);
  if (!notice.reason.empty() && passes())
    return pass(/*isInside=*/false);
  if (!notice.reason.empty())
    return stop(frame, std::move(notice));
  stopAfter(frame);
}

void Engine::number(Frame &frame) {
  switch (frame.kind) {
  case Kind::Pattern:
    frame.nth = ++patterns;
    return;
  case Kind::Fold:
    frame.nth = ++folds;
    return;
  case Kind::Pass:
    frame.nth = ++passActions;
    passNames.insert(frame.name());
    return;
  default:
    frame.nth = ++tags[frame.tag()];
  }
}

/// Answers a request that arrives while the tool runs.
static llvm::json::Value refusal(Envelope envelope) {
  if (!envelope.error)
    envelope.error.emplace(NotStopped, "the tool is running: '" +
                                           envelope.method + "' needs a stop");
  return errorMessage(std::move(envelope.id), *envelope.error);
}

bool Engine::interrupted() {
  if (!Connection::arrived)
    return false;
  bool result = false;
  while (std::optional<std::string> line = connection.poll()) {
    Envelope envelope = Envelope::open(*line);
    if (envelope.isInterrupt())
      result = true;
    else
      connection.send(refusal(std::move(envelope)));
  }
  return result;
}

bool Engine::usesUp(const Frame &frame, bool over) {
  bool counts = false;
  switch (resumption.control) {
  case Control::Step:
    counts = true;
    break;
  case Control::Next:
    // From before an action: after it. From after one: before the next.
    counts = frame.depth <= resumption.depth && over == !resumption.wasOver;
    break;
  case Control::Finish:
    counts = over && frame.depth < resumption.depth;
    break;
  default:
    return false;
  }
  if (!counts)
    return false;
  resumption.depth = frame.depth;
  resumption.wasOver = over;
  // A finish that has reached the outermost action can go no further.
  bool last = resumption.control == Control::Finish && frame.depth == 0;
  return last || --resumption.count == 0;
}

static StringRef reasonOf(const Resumption &resumption) {
  if (resumption.fromStart)
    return "start";
  if (resumption.control == Control::Next)
    return "next";
  return resumption.control == Control::Finish ? "finish" : "step";
}

void Engine::stopBefore(Frame &frame, Notice &notice) {
  bool isInterrupted = interrupted();
  llvm::ArrayRef<Breakpoint *> candidate;
  if (!breakpoints.empty())
    candidate = candidates.of(frame, breakpoints);
  if (LLVM_LIKELY(candidate.empty() && !isInterrupted && !resumption.until &&
                  !resumption.event && resumption.control < Control::Step &&
                  notice.reason.empty()))
    return;
  hitBefore(frame, candidate, notice);
  bool isHit = !notice.hit.empty();
  bool isUsedUp = usesUp(frame, /*over=*/false);
  if (passes()) {
    if (isHit || !notice.reason.empty())
      pass(/*isInside=*/false);
    if (!isInterrupted)
      return;
    isHit = false;
    notice = Notice();
  }
  bool isReached = (resumption.until && resumption.until->matches(frame)) ||
                   resumption.event == event;
  if (isReached && resumption.until && resumption.after) {
    frame.untilMatches = true;
    isReached = false;
  }
  if (!notice.reason.empty())
    return stop(frame, std::move(notice));
  if (isInterrupted)
    notice.reason = "interrupt";
  else if (isUsedUp && !isHit)
    notice.reason = reasonOf(resumption);
  else if (isReached && !isHit)
    notice.reason = "until";
  if (!notice.reason.empty())
    return stop(frame, std::move(notice));
  if (!isHit)
    return;
  // continue, apply and skip with a count pass that many stops.
  if (resumption.control < Control::Step && resumption.count > 1) {
    --resumption.count;
    frame.skipped |= resumption.control == Control::Skip;
    return;
  }
  notice.reason = "breakpoint";
  stop(frame, std::move(notice));
}

void Engine::stopAfter(Frame &frame) {
  Notice notice;
  bool isUsedUp = usesUp(frame, /*over=*/true);
  bool isLeft =
      resumption.until && resumption.within && frame.depth < resumption.depth;
  bool isReached = frame.untilMatches && resumption.until &&
                   (!resumption.outcome ||
                    resumption.outcome->matches(frame, resumption.own));
  if (isReached && resumption.count > 1) {
    --resumption.count;
    isReached = false;
  }
  if (isUsedUp)
    notice.reason = reasonOf(resumption);
  else if (isLeft || isReached || resumption.event == event)
    notice.reason = "until";
  if (!notice.reason.empty())
    stop(frame, std::move(notice));
}

} // namespace adbg
