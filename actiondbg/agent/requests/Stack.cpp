//===- Stack.cpp - Requests about the stack of actions -------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/Request.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

static RequestError noAction() {
  return RequestError(NotStopped, "no action has been dispatched yet");
}

static int64_t indexOf(const Engine &engine, const Frame *wanted) {
  int64_t index = 0;
  for (const Frame *f = engine.innermost; f && f != wanted; f = f->parent)
    ++index;
  return index;
}

static Object describeStack(const Engine &engine, bool withUnits) {
  Array frames;
  int64_t index = 0;
  for (const Frame *frame = engine.innermost; frame; frame = frame->parent)
    frames.push_back(describeFrame(*frame, index++, withUnits));
  return Object{{"frames", std::move(frames)}};
}

/// backtrace: the actions that run, innermost first. Only units are printed.
static Answer getBacktrace(Engine &engine, bool units) {
  if (!units)
    return describeStack(engine, false);
  return answerInFork([&] { return describeStack(engine, true); });
}
ADBG_IR_REQUEST("backtrace", getBacktrace, fields.boolean("units", true))

/// frame/select: selects an action of the stack, and puts the cursor on its IR.
static Answer selectFrame(Engine &engine, int64_t index) {
  Frame *frame = engine.stops.frameAt(index);
  if (!frame)
    return RequestError(
        NoSuchUnit, "there is no frame " + std::to_string(index) +
                        ": there are " +
                        std::to_string(indexOf(engine, nullptr)) + ", from 0");
  engine.stops.select(frame);
  return answerInFork([&] { return describeFrame(*frame, index); });
}
ADBG_IR_REQUEST("frame/select", selectFrame, fields.integer("index", 0))

/// action: the details of the selected action.
static Answer getAction(Engine &engine) {
  if (!engine.stops.selected)
    return noAction();
  int64_t index = indexOf(engine, engine.stops.selected);
  // A stop is inside the actions around the innermost one.
  bool inside = engine.stops.inside || index > 0;
  return answerInFork(
      [&] { return describeAction(*engine.stops.selected, index, inside); });
}
ADBG_IR_REQUEST("action", getAction)

/// context: the IR units of the selected action.
static Answer getContext(Engine &engine) {
  if (!engine.stops.selected)
    return noAction();
  return answerInFork(
      [&] { return Object{{"units", describeUnits(*engine.stops.selected)}}; });
}
ADBG_IR_REQUEST("context", getContext)

/// Sets `counts` to the changes of the running action of a frame.
static void countChanges(const Engine &engine, const Frame &frame, bool nested,
                         uint64_t (&counts)[changeKinds]) {
  if (frame.kind == Kind::None)
    return;
  const ChangeLog &log = engine.observer.log;
  if (!nested) {
    for (uint64_t i = std::max(frame.tally.first, log.begin()); i < log.end();
         ++i)
      if (log[i].ordinal == frame.ordinal)
        ++counts[unsigned(log[i].kind)];
    return;
  }
  // The changes of a nested action are added to its parent's when it ends.
  for (const Frame *f = engine.innermost; f; f = f->parent) {
    for (unsigned kind = 0; kind < changeKinds; ++kind)
      counts[kind] += f->tally.counts[kind];
    if (f == &frame)
      return;
  }
}

/// changes: the changes of the selected action, oldest first.
static Answer getChanges(Engine &engine, bool nested, int64_t count) {
  const Frame *frame = engine.stops.selected;
  if (!frame)
    return noAction();
  uint64_t counted[changeKinds] = {};
  countChanges(engine, *frame, nested, counted);
  uint64_t total = 0;
  Object counts;
  for (unsigned kind = 0; kind < changeKinds; ++kind) {
    total += counted[kind];
    if (counted[kind])
      counts[textOf(static_cast<ChangeKind>(kind))] = int64_t(counted[kind]);
  }
  Array changes = describeChanges(*frame, engine.observer.log, nested, count);
  uint64_t begin = engine.observer.log.begin();
  int64_t forgotten =
      begin > frame->tally.first ? begin - frame->tally.first : 0;
  return Object{{"changes", std::move(changes)},
                {"total", int64_t(total)},
                {"counts", std::move(counts)},
                {"forgotten", forgotten},
                {"undated", 0}};
}
ADBG_IR_REQUEST("changes", getChanges, fields.boolean("nested", true),
                fields.integerOr("count", 0, 1000))

/// Removes the blanks that MLIR writes for options without a value.
static std::string withoutEmptyOptions(StringRef text) {
  std::string result;
  char quote = 0;
  for (char c : text) {
    char last = result.empty() ? 0 : result.back();
    if (!quote && c == ' ' && (last == ' ' || last == '{'))
      continue;
    if (quote ? c == quote : c == '"' || c == '\'')
      quote = quote ? 0 : c;
    result += c;
  }
  return result;
}

/// pipeline: the pass around the selected action as a textual pipeline.
static Answer getPipeline(Engine &engine) {
  const Frame *frame = engine.stops.selected;
  frame = frame ? frame->passAround() : nullptr;
  Operation *op = frame ? frame->op() : nullptr;
  if (!op)
    return RequestError(NoSuchUnit, "the action is not inside a pass");
  std::string text;
  raw_string_ostream os(text);
  const_cast<Pass *>(frame->pass())->printAsTextualPipeline(os);
  text = withoutEmptyOptions(text);
  for (; op; op = op->getParentOp())
    text.insert(0, op->getName().getStringRef() + "(").append(")");
  return Object{{"text", text}};
}
ADBG_IR_REQUEST("pipeline", getPipeline)

} // namespace adbg
