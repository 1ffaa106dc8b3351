#include "engine/StopLoop.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/ValueKeys.h"
#include "requests/Request.h"

namespace adbg {

/// The most changes in the report of a stop.
static constexpr uint64_t mostChanges = 100;

//===----------------------------------------------------------------------===//
// The stop
//===----------------------------------------------------------------------===//

void StopLoop::stop(Frame &frame, const Notice &notice) {
  AgentHeap agentHeap;
  failing = OperationHandle(notice.about);
  if (!notice.about && frame.over && frame.kind != Kind::None &&
      frame.result() == Result::Failed)
    failing = frame.rare().failing;
  Object stop = arrive(frame, notice);
  engine.turns.describe(stop);
  // Null also for a run of an alternative.
  const Frame *pass = frame.passAround();
  if (pass && pass->rare().run)
    stop["passRun"] = Object{{"name", pass->name()},
                             {"number", int64_t(pass->rare().run)},
                             {"begun", int64_t(engine.knownNames.passRuns)}};
  else
    stop["passRun"] = nullptr;
  stop["created"] = Object{{"operations", int64_t(ids.upcoming()) - 1},
                           {"blocks", int64_t(BlockKeys::all().created())}};
  addLostCapabilities(stop);
  connection.notify("stopped", std::move(stop));
  resumption = Resumption();
  stoppedAt = &frame;
  engine.forks.checkpoints.arrived();
  serve();
  stoppedAt = nullptr;
  setTargets(&frame);
  resumption.depth = frame.depth;
  resumption.wasOver = frame.over;
  if (frame.over || inside)
    return;
  if (resumption.control == Control::Skip)
    frame.skipped = true;
  // Revokes a planned skip.
  if (resumption.control == Control::Apply)
    frame.skipped = false;
}

Object StopLoop::arrive(Frame &frame, const Notice &notice) {
  auto look = [&](Frame *from) {
    select(from);
    showFailing();
    return describe(frame, notice, mostChanges);
  };
  Frame *from = frame.kind == Kind::None ? nullptr : &frame;
  if (!isForced || survivesInFork([&] { (void)look(from); }))
    return look(from);
  ArrayRef<IRUnit> units = std::exchange(frame.units, {});
  Object stop = look(nullptr);
  frame.units = units;
  return stop;
}

void StopLoop::setTargets(Frame *innermost) {
  engine.breakpoints.findEnds(innermost);
  for (Frame *around = innermost; around; around = around->parent) {
    bool maybe =
        resumption.isForEnds() && !around->over && around->kind != Kind::None;
    around->untilResults =
        maybe ? resumption.until->spec.resultsFor(*around) : noResult;
  }
}

void StopLoop::serve() {
  AgentHeap agentHeap;
  int64_t since = Observer::now();
  isResumed = false;
  engine.turns.baton.stopped(true);
  {
    Silence silence;
    while (!isResumed) {
      std::string line = connection.receive();
      if (!connection.isOpen())
        break; // the front end has ended, and the process goes on
      if (std::optional<Json> answer = answerLine(engine, line))
        connection.send(*answer);
    }
  }
  engine.turns.baton.stopped(false);
  clearSelection();
  observer.stopTime += Observer::now() - since;
}

void StopLoop::resume(Resumption next) {
  resumption = std::move(next);
  isResumed = true;
  engine.forks.resumed();
  passedHits.clear();
  if (resumption.event)
    engine.forks.checkpoints.approach(position.event, resumption.event);
}

Object StopLoop::describe(const Frame &frame, const Notice &notice,
                          uint64_t mostChanges) const {
  // While the action is not over its outcome is unknown.
  bool isOver = frame.over && !inside && frame.kind != Kind::None;
  Object stop{{"when", whenOf(frame, inside)},
              {"reason", notice.reason},
              {"event", int64_t(position.event)},
              {"breakpoints", Array(notice.hit)},
              {"skipped", frame.skipped},
              {"nth", int64_t(frame.nth)},
              {"message", textOrNull(notice.message)},
              {"culprit", notice.culprit},
              {"unnamed", textOrNull(frame.unnamed())},
              {"cursor", describeCursorNow()},
              {"changes", Array()},
              {"changeCount", isOver ? int64_t(frame.tally.total()) : 0},
              {"outcome", isOver ? describeOutcome(frame) : Json(nullptr)}};
  if (isOver)
    stop["changes"] =
        describeChanges(frame, observer.log, /*nested=*/true, mostChanges);
  addAction(stop, frame);
  if (frame.kind == Kind::None && notice.about)
    addOperation(stop, notice.about);
  else
    addOperation(stop, frame);
  engine.trace.describe(stop);
  return stop;
}

void StopLoop::log(Frame &frame, const Notice &notice, bool withChanges) {
  AgentHeap agentHeap;
  int64_t since = Observer::now();
  select(&frame);
  Object hit = describe(frame, notice, withChanges ? mostChanges : 0);
  bool isTimed = frame.over && engine.counts;
  hit["seconds"] = isTimed ? Json(observer.secondsOf(frame.took)) : nullptr;
  if (Operation *op =
          logsNeighbourhoods && !frame.over ? frame.op() : nullptr) {
    Silence silence;
    hit["neighbourhood"] = describeNeighbourhood(op, engine.names);
  }
  *hitLog << Json(std::move(hit)) << "\n";
  clearSelection();
  observer.stopTime += Observer::now() - since;
}

//===----------------------------------------------------------------------===//
// The selected action
//===----------------------------------------------------------------------===//

Frame *StopLoop::frameAt(int64_t index) const {
  Frame *frame = observer.innermost;
  while (frame && index-- > 0)
    frame = frame->parent;
  return frame;
}

/// Returns what an action inserted in the place of its operation, which it
/// erased: its last insertion, one of the same kind if there is any.
static Operation *insertedFor(const Frame &frame, const ErasedUnit &erased,
                              const Observer &observer) {
  Operation *found = nullptr;
  const ChangeLog &log = observer.log;
  uint64_t first = std::max(frame.tally.first, log.begin());
  for (uint64_t at = log.end(); at > first; --at) {
    const Change &change = log[at - 1];
    if (change.kind != ChangeKind::Inserted || change.isBlock ||
        (found && change.op != erased.name))
      continue;
    Operation *op = ids.find(change.id);
    if (!op || !op->getBlock())
      continue;
    if (change.op == erased.name)
      return op;
    found = op;
  }
  return found;
}

StringRef textOf(CursorBy by) {
  static constexpr StringRef texts[] = {"action", "replaced", "inserted",
                                        "around", "failing"};
  return texts[static_cast<unsigned>(by)];
}

Json StopLoop::describeCursorNow() const {
  Operation *op = cursor ? holderOf(cursor) : nullptr;
  if (!op)
    return nullptr;
  return Object{{"kind", kindText(cursor)},
                {"id", idOrNull(ids.of(op))},
                {"op", op->getName().getStringRef()},
                {"by", textOf(cursorBy)}};
}

void StopLoop::showFailing() {
  Operation *op = failing.get();
  // A conversion unlinks operations before it destroys them.
  Operation *around = cursor ? holderOf(cursor) : nullptr;
  if (!op || (around && rootOf(around) != rootOf(op)))
    return;
  cursor = IRUnit(op);
  cursorBy = CursorBy::Failing;
}

void StopLoop::resetCursor() {
  cursor = IRUnit();
  cursorBy = CursorBy::Action;
  if (!selected)
    showFailing();
  for (const Frame *frame = selected; frame; frame = frame->parent) {
    if (frame->units.empty())
      continue;
    const ErasedUnit *erased = frame->erasedUnit(0);
    if (erased && !erased->by) {
      Operation *inserted = frame->over && frame->kind == Kind::Pattern
                                ? insertedFor(*frame, *erased, observer)
                                : nullptr;
      if (!inserted)
        continue;
      cursor = IRUnit(inserted);
      cursorBy = CursorBy::Inserted;
    } else {
      cursor = erased ? IRUnit(erased->by) : frame->units[0];
      cursorBy = erased ? CursorBy::Replaced : CursorBy::Action;
    }
    if (frame != selected)
      cursorBy = CursorBy::Around;
    return;
  }
}

//===----------------------------------------------------------------------===//
// While the tool runs
//===----------------------------------------------------------------------===//

/// Refuses a request that arrives while the tool runs. Breakpoints are taken:
/// they changed at a stop of another process of the program.
static Json refusal(Envelope envelope) {
  if (!envelope.error)
    envelope.error.emplace(NotStopped, "the tool is running: '" +
                                           envelope.method + "' needs a stop");
  return answerMessage(std::move(envelope.id), "error", *envelope.error);
}

bool StopLoop::readInterrupt() {
  bool result = false, isChanged = false;
  while (std::optional<std::string> line = connection.poll()) {
    Envelope envelope = Envelope::open(*line);
    if (envelope.isInterrupt())
      result = true;
    else if (envelope.method == "breakpoints/set" && !envelope.error) {
      connection.send(*answerLine(engine, *line));
      isChanged = true;
    } else
      connection.send(refusal(std::move(envelope)));
  }
  // The innermost action is evaluated next.
  if (isChanged && observer.innermost)
    engine.breakpoints.findEnds(observer.innermost->parent);
  return result;
}

void StopLoop::passHit() {
  hitsInside += inside;
  passedHits.push_back({position.event, inside ? hitsInside : 0});
  if (passedHits.size() > resumption.keep)
    passedHits.pop_front();
}

Array StopLoop::describePassedHits() const {
  return Array(passedHits, [](const PassedHit &one) {
    return Object{{"event", int64_t(one.event)},
                  {"during", int64_t(one.during)}};
  });
}

//===----------------------------------------------------------------------===//
// Resuming after a stop
//===----------------------------------------------------------------------===//

bool Resumption::usesUp(const Frame &frame, bool over) {
  // next: from before an action to its end; from its end to the next beginning.
  bool counts =
      stepsOver(frame) && (control == Control::Step ||
                           over == (control == Control::Finish || !wasOver));
  if (!counts)
    return false;
  depth = frame.depth;
  wasOver = over;
  // After the outermost action finish has no further target.
  bool last = control == Control::Finish && frame.depth == 0;
  return last || --count == 0;
}

StringRef Resumption::reason() const {
  if (fromStart)
    return "start";
  if (control == Control::Next)
    return "next";
  return control == Control::Finish ? "finish" : "step";
}

} // namespace adbg
