//===- Stack.cpp - Requests about the stack of actions --------------------===//

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

struct GetBacktraceArguments {
  bool units;
  explicit GetBacktraceArguments(Fields &fields)
      : units(fields.boolean("units", true)) {}
};

static Object describeStack(const Engine &engine, bool withUnits) {
  Array frames;
  int64_t index = 0;
  for (const Frame *frame = engine.innermost; frame; frame = frame->parent)
    frames.push_back(describeFrame(*frame, index++, withUnits));
  return Object{{"frames", std::move(frames)}};
}

/// backtrace: the actions that run, innermost first. Only units are printed.
static Answer<Object> getBacktrace(Engine &engine,
                                   GetBacktraceArguments &arguments) {
  if (!arguments.units)
    return describeStack(engine, false);
  return answerInFork([&] { return describeStack(engine, true); });
}
ADBG_REQUEST("backtrace", getBacktrace, readsIR)

struct SelectFrameArguments {
  int64_t index;
  explicit SelectFrameArguments(Fields &fields)
      : index(fields.integer("index", 0)) {}
};

/// frame/select: selects an action of the stack, and puts the cursor on its IR.
static Answer<Object> selectFrame(Engine &engine,
                                  SelectFrameArguments &arguments) {
  Frame *frame = engine.stops.frameAt(arguments.index);
  if (!frame)
    return RequestError(
        NoSuchUnit, "there is no frame " + std::to_string(arguments.index) +
                        ": there are " +
                        std::to_string(indexOf(engine, nullptr)) + ", from 0");
  engine.stops.select(frame);
  return answerInFork([&] { return describeFrame(*frame, arguments.index); });
}
ADBG_REQUEST("frame/select", selectFrame, readsIR)

/// action: the details of the selected action.
static Answer<Object> getAction(Engine &engine) {
  if (!engine.stops.selected)
    return noAction();
  int64_t index = indexOf(engine, engine.stops.selected);
  // A stop is inside the actions around the innermost one.
  bool inside = engine.stops.inside || index > 0;
  return answerInFork(
      [&] { return describeAction(*engine.stops.selected, index, inside); });
}
ADBG_REQUEST("action", getAction, readsIR)

/// context: the IR units of the selected action.
static Answer<Object> getContext(Engine &engine) {
  if (!engine.stops.selected)
    return noAction();
  return answerInFork(
      [&] { return Object{{"units", describeUnits(*engine.stops.selected)}}; });
}
ADBG_REQUEST("context", getContext, readsIR)

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

struct GetChangesArguments {
  bool nested;
  int64_t count;
  explicit GetChangesArguments(Fields &fields)
      : nested(fields.boolean("nested", true)),
        count(fields.integerOr("count", 0, 1000)) {}
};

/// changes: the changes of the selected action, oldest first.
static Answer<Object> getChanges(Engine &engine,
                                 GetChangesArguments &arguments) {
  const Frame *frame = engine.stops.selected;
  if (!frame)
    return noAction();
  uint64_t counted[changeKinds] = {};
  countChanges(engine, *frame, arguments.nested, counted);
  uint64_t total = 0;
  Object counts;
  for (unsigned kind = 0; kind < changeKinds; ++kind) {
    total += counted[kind];
    if (counted[kind])
      counts[textOf(static_cast<ChangeKind>(kind))] = int64_t(counted[kind]);
  }
  Array changes = describeChanges(*frame, engine.observer.log, arguments.nested,
                                  arguments.count);
  uint64_t begin = engine.observer.log.begin();
  int64_t forgotten =
      begin > frame->tally.first ? begin - frame->tally.first : 0;
  return Object{{"changes", std::move(changes)},
                {"total", int64_t(total)},
                {"counts", std::move(counts)},
                {"forgotten", forgotten},
                {"undated", 0}};
}
ADBG_REQUEST("changes", getChanges, readsIR)

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
static Answer<Object> getPipeline(Engine &engine) {
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
ADBG_REQUEST("pipeline", getPipeline, readsIR)

} // namespace adbg
