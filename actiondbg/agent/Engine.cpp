//===- Engine.cpp - The stream of actions and where it stops
//----------------===//

#include "Engine.h"
#include "Describe.h"
#include "Versions.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

// The thread that made the first context.
static thread_local bool isHome = false;

Engine &Engine::get() {
  // Never destroyed: the tool may dispatch in static destructors.
  static Engine *engine = new Engine;
  return *engine;
}

bool Engine::ownsThread() const { return isHome; }

void Engine::attach(const std::string &socket) {
  isHome = true;
  pid = getpid();
  connection.open(socket);
  Connection::onForce = [] {
    if (Engine::get().follows())
      Engine::get().stopInside();
  };
  attached = true;
  llvm::sys::AddSignalHandler([](void *) { Engine::get().sendCrash(); },
                              nullptr);
  connection.notify("hello", hello(pid, 0, /*isReplica=*/false));
  resumption.fromStart = true;
  serve();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Engine::dispatch(Frame &frame, llvm::function_ref<void()> run) {
  Frame *parent = innermost;
  frame.parent = parent;
  frame.depth = parent ? parent->depth + 1 : 0;
  frame.ordinal = ++ordinal;
  frame.tally.first = observer.log.end();
  frame.tally.firstId = observer.ids.upcoming();
  if (parent)
    frame.conversion = parent->isConversion() ? parent : parent->conversion;
  if (frame.kind == Kind::Pass || frame.kind == Kind::Other)
    remember(frame);
  if (LLVM_UNLIKELY(mayStop()))
    before(frame);
  else
    innermost = &frame;
  observer.isDetailed = mayStop() && mayTell();
  observer.isTallied = mayStop() || counts;
  observer.forgetFold();
  observer.begin(frame, counts);
  if (!frame.skipped)
    run();
  frame.over = true;
  observer.end(frame, counts);
  if (LLVM_UNLIKELY(mayStop() || !frame.stopAfter.empty()))
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
  if (LLVM_UNLIKELY(!toSkip.empty()) &&
      llvm::binary_search(toSkip, frame.ordinal))
    frame.skipped = true;
  stopBefore(frame, notice);
  if (frame.skipped)
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
  bool isWanted = isStep || !frame.stopAfter.empty() ||
                  !frame.undecided.empty() || frame.untilMatches;
  if (!isWanted)
    return;
  frame.wantsReasons =
      isStep || frame.kind == Kind::Fold || !frame.stopAfter.empty() ||
      (frame.untilMatches &&
       (!resumption.outcome || resumption.outcome->needsReasons()));
  for (const Breakpoint &one : breakpoints)
    frame.wantsReasons |= llvm::is_contained(frame.undecided, one.id) &&
                          one.outcome->needsReasons();
  // To look at all of a function costs more than most actions: only where a
  // person goes step by step, and for passes.
  frame.wantsModified = (frame.kind == Kind::Pass && !frame.isAdaptor()) ||
                        (isStep && frame.depth == resumption.depth);
}

void Engine::after(Frame &frame) {
  bool isPlain = !looksBetween() && !catching && !resumption.until &&
                 resumption.control < Control::Step &&
                 frame.stopAfter.empty() && frame.undecided.empty();
  if (LLVM_LIKELY(isPlain))
    return;
  Notice notice;
  hitWatches(frame, notice);
  if (verifiesEach && frame.changed())
    verifyAfter(frame, notice);
  if (catching)
    checkConvergence(frame);
  hitAfter(frame, notice);
  if (!notice.reason.empty())
    return stop(frame, std::move(notice));
  stopAfter(frame);
}

void Engine::remember(const Frame &frame) {
  if (frame.kind == Kind::Pass)
    passNames.insert(frame.name());
  else
    tags.insert(frame.tag());
}

bool Engine::interrupted() {
  if (!Connection::arrived)
    return false;
  bool result = false;
  while (std::optional<std::string> line = connection.poll()) {
    if (isInterrupt(*line))
      result = true;
    else
      refuseWhileRunning(*line);
  }
  return result;
}

void Engine::refuseWhileRunning(StringRef line) {
  if (std::optional<llvm::json::Value> reply = refusal(line))
    connection.send(*reply);
}

void Engine::breakpointsChanged() {
  ++breakpointsVersion;
  candidates.forget();
  observer.watch(breakpoints);
  catching = 0;
  tellsChanges = false;
  for (const Breakpoint &one : breakpoints) {
    if (one.catches && one.enabled)
      catching |= 1u << static_cast<unsigned>(one.catches->kind);
    tellsChanges |= one.after || one.outcome || one.watch || one.catches;
  }
}

void Engine::hit(Breakpoint &one, Frame &frame, Notice &notice) {
  if (!one.hit())
    return;
  if (!one.log) {
    notice.hit.push_back(one.id);
    return;
  }
  if (!log)
    return;
  Notice line = notice;
  line.hit = {one.id};
  if (line.reason.empty())
    line.reason = "breakpoint";
  selected = &frame;
  resetCursor();
  *log << llvm::json::Value(describeStop(frame, line, inside)) << "\n";
  selected = nullptr;
  cursor = IRUnit();
}

void Engine::hitBefore(Frame &frame, llvm::ArrayRef<Breakpoint *> candidate,
                       Notice &notice) {
  for (Breakpoint *maybe : candidate) {
    Breakpoint &one = *maybe;
    if (!one.enabled || !one.spec.matchesRest(frame))
      continue;
    if (one.after || one.outcome)
      (one.outcome ? frame.undecided : frame.stopAfter).push_back(one.id);
    else
      hit(one, frame, notice);
  }
}

void Engine::hitLater(Frame &frame) {
  for (Breakpoint &one : breakpoints) {
    if (!one.enabled || one.watch || one.catches ||
        !(one.after || one.outcome) ||
        llvm::is_contained(frame.stopAfter, one.id) ||
        llvm::is_contained(frame.undecided, one.id))
      continue;
    if (one.spec.matches(frame))
      (one.outcome ? frame.undecided : frame.stopAfter).push_back(one.id);
  }
}

void Engine::hitAfter(Frame &frame, Notice &notice) {
  bool failed = catches(CatchKind::Failure) && frame.kind == Kind::Pass &&
                !frame.isAdaptor() && frame.returned == Returned::Failure;
  if (frame.stopAfter.empty() && frame.undecided.empty() && !failed)
    return;
  size_t already = notice.hit.size();
  StringRef reason = notice.reason;
  for (Breakpoint &one : breakpoints) {
    if (failed && one.enabled && one.catches &&
        one.catches->kind == CatchKind::Failure &&
        (!one.catches->glob || one.catches->glob->matchesNow(frame.name()))) {
      notice.reason = "catch";
      notice.message = "the pass " + frame.name() + " failed";
      notice.culprit = {frame.ordinal, frame.tag().str(), frame.name(), false};
      hit(one, frame, notice);
    }
    bool isHit = llvm::is_contained(frame.stopAfter, one.id) ||
                 (llvm::is_contained(frame.undecided, one.id) && one.outcome &&
                  one.outcome->matches(frame, /*own=*/false));
    if (isHit)
      hit(one, frame, notice);
  }
  if (notice.hit.size() == already) {
    notice.reason = reason;
    return;
  }
  if (notice.reason.empty())
    notice.reason = "breakpoint";
  // continue, apply and skip with a count pass that many stops.
  if (resumption.control < Control::Step && resumption.count > 1) {
    --resumption.count;
    notice = Notice();
  }
}

void Engine::hitWatches(Frame &frame, Notice &notice) {
  for (Breakpoint *one : observer.watches) {
    std::string message = one->watch->happened();
    if (message.empty() || !one->enabled)
      continue;
    if (one->spec.condition &&
        !one->spec.condition->holds(frame, ++one->spec.matched))
      continue;
    Notice seen;
    seen.reason = "watch";
    seen.message = message;
    seen.culprit = observer.culpritNow();
    hit(*one, frame, seen);
    if (seen.hit.empty())
      continue;
    if (!notice.message.empty())
      seen.message = notice.message + "; " + seen.message;
    seen.hit.insert(seen.hit.begin(), notice.hit.begin(), notice.hit.end());
    notice = std::move(seen);
  }
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
                  resumption.control < Control::Step && notice.reason.empty()))
    return;
  hitBefore(frame, candidate, notice);
  bool isHit = !notice.hit.empty();
  bool isUsedUp = usesUp(frame, /*over=*/false);
  bool isReached = resumption.until && resumption.until->matches(frame);
  if (isReached && resumption.after) {
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
  else if (isLeft || isReached)
    notice.reason = "until";
  if (!notice.reason.empty())
    stop(frame, std::move(notice));
}

} // namespace adbg
