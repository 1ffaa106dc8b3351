//===- Hits.cpp - Which breakpoints an action hits
//-------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

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

/// The breakpoint is about the end of the action.
static void noteEnd(Frame &frame, const Breakpoint &one) {
  Rare &rare = frame.needRare();
  (one.outcome ? rare.undecided : rare.stopAfter).push_back(one.id);
}

void Engine::hitBefore(Frame &frame, llvm::ArrayRef<Breakpoint *> candidate,
                       Notice &notice) {
  for (Breakpoint *maybe : candidate) {
    Breakpoint &one = *maybe;
    if (!one.enabled || !one.spec.matchesRest(frame))
      continue;
    if (one.after || one.outcome)
      noteEnd(frame, one);
    else
      hit(one, frame, notice);
  }
}

void Engine::hitLater(Frame &frame) {
  for (Breakpoint &one : breakpoints) {
    if (!one.enabled || one.watch || one.catches ||
        !(one.after || one.outcome) ||
        llvm::is_contained(frame.rare().stopAfter, one.id) ||
        llvm::is_contained(frame.rare().undecided, one.id))
      continue;
    if (one.spec.matches(frame))
      noteEnd(frame, one);
  }
}

void Engine::hitAfter(Frame &frame, Notice &notice) {
  bool failed = catches(CatchKind::Failure) && frame.kind == Kind::Pass &&
                !frame.isAdaptor() && frame.returned == Returned::Failure;
  if (frame.rare().stopAfter.empty() && frame.rare().undecided.empty() &&
      !failed)
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
    bool isHit = llvm::is_contained(frame.rare().stopAfter, one.id) ||
                 (llvm::is_contained(frame.rare().undecided, one.id) &&
                  one.outcome && one.outcome->matches(frame, /*own=*/false));
    // It may have been disabled since the action began.
    if (isHit && one.enabled)
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

} // namespace adbg
