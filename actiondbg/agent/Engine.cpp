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

static llvm::json::Object notification(StringRef method,
                                       llvm::json::Object params) {
  return llvm::json::Object{
      {"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

void Engine::attach(const std::string &socket) {
  isHome = true;
  pid = getpid();
  connection.open(socket);
  attached = true;
  llvm::sys::AddSignalHandler([](void *) { Engine::get().sendCrash(); },
                              nullptr);
  connection.send(notification("hello", hello(pid)));
  resumption.fromStart = true;
  serve();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Engine::dispatch(Frame &frame, llvm::function_ref<void()> run) {
  frame.parent = innermost;
  frame.depth = innermost ? innermost->depth + 1 : 0;
  frame.ordinal = ++ordinal;
  innermost = &frame;
  if (frame.kind == Kind::Pass || frame.kind == Kind::Other)
    remember(frame);
  if (LLVM_UNLIKELY(Connection::arrived || !breakpoints.empty() ||
                    resumption.control >= Control::Step || resumption.until))
    stopBefore(frame);
  if (!frame.skipped)
    run();
  frame.over = true;
  if (LLVM_UNLIKELY(!frame.stopAfter.empty() ||
                    resumption.control >= Control::Step || resumption.within))
    stopAfter(frame);
  innermost = frame.parent;
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

bool Engine::hitsBreakpoint(Frame &frame, llvm::SmallVectorImpl<int> &hit) {
  for (Breakpoint *candidate : candidates.of(frame, breakpoints)) {
    Breakpoint &one = *candidate;
    if (!one.enabled || !one.spec.matchesRest(frame))
      continue;
    ++one.hits;
    if (one.ignore > 0) {
      --one.ignore;
      continue;
    }
    if (one.temporary)
      one.enabled = false;
    (one.after ? frame.stopAfter : hit).push_back(one.id);
  }
  return !hit.empty();
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

void Engine::stopBefore(Frame &frame) {
  llvm::SmallVector<int, 4> hit;
  bool isInterrupted = interrupted();
  bool isHit = hitsBreakpoint(frame, hit);
  bool isUsedUp = usesUp(frame, /*over=*/false);
  bool isReached = resumption.until && resumption.until->matches(frame);
  if (isInterrupted)
    return stop(frame, "interrupt", hit);
  if (isUsedUp && !isHit)
    return stop(frame, reasonOf(resumption), hit);
  if (isReached && !isHit)
    return stop(frame, "until", hit);
  if (!isHit)
    return;
  // continue, apply and skip with a count pass that many stops.
  if (resumption.control < Control::Step && resumption.count > 1) {
    --resumption.count;
    frame.skipped = resumption.control == Control::Skip;
    return;
  }
  stop(frame, "breakpoint", hit);
}

void Engine::stopAfter(Frame &frame) {
  llvm::SmallVector<int, 4> hit(frame.stopAfter.begin(), frame.stopAfter.end());
  bool isUsedUp = usesUp(frame, /*over=*/true);
  bool isLeft =
      resumption.until && resumption.within && frame.depth < resumption.depth;
  if (!hit.empty() && resumption.control < Control::Step &&
      resumption.count > 1) {
    --resumption.count;
    return;
  }
  if (!hit.empty())
    return stop(frame, "breakpoint", hit);
  if (isUsedUp)
    return stop(frame, reasonOf(resumption), hit);
  if (isLeft)
    stop(frame, "until", hit);
}

void Engine::stop(Frame &frame, StringRef reason, llvm::ArrayRef<int> hit) {
  selected = &frame;
  resetCursor();
  connection.send(notification("stopped", describeStop(frame, reason, hit)));
  resumption = Resumption();
  serve();
  resumption.depth = frame.depth;
  resumption.wasOver = frame.over;
  if (resumption.control == Control::Skip && !frame.over)
    frame.skipped = true;
}

void Engine::serve() {
  serving = true;
  bool resumed = false;
  while (!resumed) {
    std::string line = connection.receive();
    if (std::optional<llvm::json::Value> reply = answer(*this, line, resumed))
      connection.send(*reply);
  }
  serving = false;
  selected = nullptr;
  cursor = IRUnit();
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

Frame *Engine::frameAt(int64_t index) const {
  Frame *frame = innermost;
  while (frame && index-- > 0)
    frame = frame->parent;
  return frame;
}

void Engine::resetCursor() {
  cursor = IRUnit();
  for (const Frame *frame = selected; frame; frame = frame->parent) {
    if (frame->units.empty())
      continue;
    const Gone *gone = frame->goneUnit(0);
    if (gone && !gone->by)
      continue;
    cursor = gone ? IRUnit(gone->by) : frame->units[0];
    return;
  }
}

static Gone describeGone(size_t unit, Operation *op) {
  Gone gone;
  gone.unit = unit;
  gone.name = op->getName().getStringRef().str();
  gone.location = placeText(op->getLoc()).value_or("");
  if (Operation *function = functionAround(op)) {
    gone.hasFunction = true;
    gone.function = symbolName(function).str();
  }
  return gone;
}

void Engine::erased(Operation *op) {
  for (Frame *frame = innermost; frame; frame = frame->parent) {
    for (Gone &gone : frame->gone)
      if (gone.by == op)
        gone.by = nullptr;
    for (size_t i = 0; i < frame->units.size(); ++i)
      if (!frame->goneUnit(i) && holderOf(frame->units[i]) == op)
        frame->gone.push_back(describeGone(i, op));
  }
}

void Engine::replaced(Operation *op, Operation *by) {
  for (Frame *frame = innermost; frame; frame = frame->parent) {
    for (size_t i = 0; i < frame->units.size(); ++i) {
      if (frame->opOfUnit(i) != op)
        continue;
      Gone gone = describeGone(i, op);
      gone.by = by;
      llvm::erase_if(frame->gone, [&](Gone &old) { return old.unit == i; });
      frame->gone.push_back(std::move(gone));
    }
  }
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Engine::sendExit() {
  if (!attached || getpid() != pid || !connection.isOpen())
    return;
  connection.send(notification(
      "exited", llvm::json::Object{{"actions", int64_t(ordinal)},
                                   {"hits", describeHits(breakpoints)}}));
}

void Engine::abandon() {
  attached = false;
  connection.abandon();
}

void Engine::sendCrash() {
  if (getpid() != pid || !connection.isOpen())
    return;
  llvm::json::Object crash = describeCrash(innermost);
  crash["hits"] = describeHits(breakpoints);
  connection.send(notification("crashed", std::move(crash)));
}

} // namespace adbg
