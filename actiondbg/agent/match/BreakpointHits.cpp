#include "match/BreakpointHits.h"

namespace adbg {

/// Forgets that an action has a breakpoint at its end.
static void forgetEnd(Frame &frame, int id) {
  if (frame.rare().stopAfter.empty() && frame.rare().undecided.empty())
    return;
  Rare &rare = frame.needRare();
  std::erase(rare.stopAfter, id);
  std::erase_if(rare.undecided, [&](auto &each) { return each.first == id; });
}

void BreakpointHits::set(std::vector<Breakpoint> all) {
  Frame *innermost = observer.innermost;
  for (Breakpoint &one : all) {
    auto old = std::ranges::find(breakpoints, one.id, &Breakpoint::id);
    one.isNew = one.enabled;
    if (old == breakpoints.end())
      continue;
    if (old->meaning != one.meaning) {
      for (Frame *frame = innermost; frame; frame = frame->parent)
        forgetEnd(*frame, one.id);
    } else {
      bool isPending = old->isNew || !old->enabled;
      one.isNew &= isPending;
      one.evaluated =
          isPending || !innermost ? old->evaluated : innermost->ordinal;
    }
    one.hits = old->hits;
    one.spec.continueFrom(std::move(old->spec));
    if (one.watch && old->watch && one.watch->isSameAs(*old->watch))
      one.watch = std::move(old->watch);
  }
  breakpoints = std::move(all);
  slots.clear();
  observer.watch(breakpoints);
  catching = 0;
  isAboutChanges = false;
  for (const Breakpoint &one : breakpoints) {
    if (one.catches && one.enabled)
      catching |= 1u << static_cast<unsigned>(one.catches->kind);
    isAboutChanges |=
        one.after || one.isAboutOutcome() || one.watch || one.catches;
  }
}

Array BreakpointHits::describe() const {
  return Array(breakpoints, [](const Breakpoint &one) {
    return Object{{"id", one.id},
                  {"hits", int64_t(one.hits)},
                  {"matched", int64_t(one.spec.matched)}};
  });
}

/// Returns the results after which a breakpoint may stop that waits for the
/// outcome of an action.
static Results awaited(const Frame &frame, const Breakpoint &one) {
  for (const auto &[id, results] : frame.rare().undecided)
    if (id == one.id)
      return results;
  return noResult;
}

bool BreakpointHits::needReasons(const Frame &frame) const {
  return std::ranges::any_of(breakpoints, [&](const Breakpoint &one) {
    return awaited(frame, one) && one.needsReasons();
  });
}

void BreakpointHits::hit(Breakpoint &one, Frame &frame, Notice &notice) {
  ++one.hits;
  if (one.ignore > 0) {
    --one.ignore;
    return;
  }
  if (one.temporary)
    one.enabled = false;
  if (!one.log) {
    notice.hit.push_back(one.id);
    return;
  }
  if (!stops.hitLog.isOpen())
    return;
  Notice logged = notice;
  logged.hit = {one.id};
  if (logged.reason.empty())
    logged.reason = "breakpoint";
  stops.log(frame, logged, /*withChanges=*/one.watch.has_value());
}

/// Whether the condition of a watch or a catch holds, which has no terms.
static bool holdsFor(Breakpoint &one, const Frame &frame) {
  Spec &spec = one.spec;
  return !spec.condition || spec.condition->holds(frame, ++spec.matched);
}

/// Notes a breakpoint that is evaluated at the end of the action.
static void noteEnd(Frame &frame, const Breakpoint &one, Results results) {
  Rare &rare = frame.needRare();
  if (one.isAboutOutcome())
    rare.undecided.push_back({one.id, results});
  else
    rare.stopAfter.push_back(one.id);
}

static bool isHitAfter(const Frame &frame, Breakpoint &one) {
  if (llvm::is_contained(frame.rare().stopAfter, one.id))
    return true;
  return (awaited(frame, one) & asSet(frame.result())) &&
         (!one.outcome || one.outcome->matches(frame, /*own=*/false));
}

void BreakpointHits::hitBefore(Frame &frame, ArrayRef<Candidate> found,
                               Notice &notice) {
  for (const Candidate &candidate : found) {
    Breakpoint &one = *candidate.breakpoint;
    if (!one.enabled)
      continue;
    Results results = one.spec.resultsFor(frame, candidate.open);
    if (!results)
      continue;
    if (one.after || one.isAboutOutcome())
      noteEnd(frame, one, results);
    else
      hit(one, frame, notice);
  }
}

void BreakpointHits::findEnds(Frame *innermost) {
  if (std::ranges::none_of(breakpoints, &Breakpoint::isNew))
    return;
  // In the order of their beginnings, in which they count as matched.
  std::vector<Frame *> running;
  for (Frame *frame = innermost; frame; frame = frame->parent)
    if (frame->kind != Kind::None && !frame->over)
      running.insert(running.begin(), frame);
  for (Breakpoint &one : breakpoints) {
    if (!std::exchange(one.isNew, false) || one.watch || one.catches ||
        !(one.after || one.isAboutOutcome()))
      continue;
    for (Frame *frame : running)
      if (frame->ordinal > one.evaluated)
        if (Results results = one.spec.resultsFor(*frame))
          noteEnd(*frame, one, results);
  }
}

bool BreakpointHits::hitAfter(Frame &frame, Notice &notice) {
  bool failed = catches(CatchKind::Failure) && frame.isRealPass() &&
                frame.returned == Returned::Failure;
  if (frame.rare().stopAfter.empty() && frame.rare().undecided.empty() &&
      !failed)
    return false;
  size_t already = notice.hit.size();
  StringRef reason = notice.reason;
  for (Breakpoint &one : breakpoints) {
    if (failed && one.enabled && one.catches &&
        one.catches->kind == CatchKind::Failure &&
        (!one.catches->glob || matchesPass(*one.catches->glob, frame.pass())) &&
        holdsFor(one, frame)) {
      notice.reason = "catch";
      StringRef error = frame.rare().error;
      notice.message = "the pass " + frame.name() + " failed";
      if (!error.empty())
        notice.message += ": " + error.str();
      notice.culprit = Culprit::of(frame);
      hit(one, frame, notice);
    }
    // The breakpoint may have been disabled since the action began.
    if (one.enabled && isHitAfter(frame, one))
      hit(one, frame, notice);
  }
  if (notice.hit.size() == already) {
    notice.reason = reason;
    return false;
  }
  if (notice.reason.empty())
    notice.reason = "breakpoint";
  return true;
}

void BreakpointHits::hitCatches(const Event &event, Frame &frame,
                                Notice &notice) {
  for (Breakpoint &one : breakpoints)
    if (one.enabled && one.catches && one.catches->matches(event) &&
        holdsFor(one, frame))
      hit(one, frame, notice);
}

void BreakpointHits::hitWatches(Frame &frame, Notice &notice) {
  for (Breakpoint *one : observer.watches) {
    std::string message = one->watch->takeEvents();
    if (message.empty() || !one->enabled)
      continue;
    if (!holdsFor(*one, frame))
      continue;
    Notice seen;
    seen.reason = "watch";
    seen.message = message;
    if (one->watch->hasEnded() && !one->log)
      seen.message += " (watch " + std::to_string(one->id) + " has ended)";
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

//===----------------------------------------------------------------------===//
// Breakpoints by the names of an action
//===----------------------------------------------------------------------===//

ArrayRef<Candidate> BreakpointHits::candidatesFor(const Frame &frame) {
  if (slots.empty())
    slots.resize(1024);
  unsigned now = namesEpoch();
  const Pattern *pattern = frame.pattern();
  Operation *op = frame.op();
  const char *tag = frame.tag().data();
  const char *name = pattern ? nameOf(*pattern).data() : nullptr;
  const char *opName = op ? op->getName().getStringRef().data() : nullptr;
  Slot &slot =
      slots[(spread(tag) ^ spread(name) * 3 ^ spread(opName) * 5) & 1023];
  // A pass is matched by more than these names.
  bool isWhole = frame.kind != Kind::Pass;
  if (isWhole && slot.tag == tag && slot.name == name && slot.op == opName &&
      slot.epoch == now)
    return slot.found;
  slot = Slot{isWhole ? tag : nullptr, name, opName, now, {}};
  for (Breakpoint &one : breakpoints) {
    if (!one.enabled || one.watch || one.catches)
      continue;
    if (std::optional<Spec::Terms> open = one.spec.openTerms(frame))
      slot.found.push_back({&one, std::move(*open)});
  }
  return slot.found;
}

} // namespace adbg
