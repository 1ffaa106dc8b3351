//===- Status.cpp - Requests about the run and the stack of actions -------===//

#include "detour/Hooks.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/Request.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

/// status: the position of the run and the agent's memory use.
static Answer getStatus(Engine &engine) {
  size_t tracked = engine.breakpoints.all().size() * sizeof(Breakpoint) +
                   ids.bytes() + engine.knownNames.bytes();
  return Object{{"ordinal", int64_t(engine.position.ordinal)},
                {"event", int64_t(engine.position.event)},
                {"written", describeWritten()},
                {"passed", engine.stops.describePassedHits()},
                {"contexts", int64_t(Contexts::all().count())},
                {"threads", int64_t(engine.turns.threads.count())},
                {"unfollowed", int64_t(engine.turns.unfollowed)},
                {"threading", engine.wantsThreads},
                {"tracked", int64_t(tracked)}};
}
ADBG_REQUEST("status", getStatus)

/// contexts: the MLIR contexts of the process.
static Answer getContexts(Engine &engine) {
  return Object{{"contexts", engine.turns.describeContexts()}};
}
ADBG_REQUEST("contexts", getContexts)

/// threads: the threads that ran actions.
static Answer getThreads(Engine &engine) {
  return Object{{"threads", engine.turns.describeThreads()}};
}
ADBG_REQUEST("threads", getThreads)

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

using Names = std::set<std::string>;
enum class NameKind { Tag, Pattern, Pass, Operation, Function };

static void addKeys(const TextMap<uint64_t> &map, Names &names) {
  for (const auto &[name, number] : map)
    names.insert(name);
}

static void addOperations(Operation *op, Names &names) {
  for (RegisteredOperationName name :
       op->getContext()->getRegisteredOperations())
    names.insert(name.getStringRef().str());
}

/// Adds the functions of the module that is there now.
static void addFunctions(Operation *op, Names &names) {
  rootOf(op)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = mayBeFunction(op) ? symbolName(op) : "";
    if (name.empty())
      return isSymbolTable(op) ? WalkResult::advance() : WalkResult::skip();
    names.insert(name.str());
    return WalkResult::skip();
  });
}

/// names: the names of one kind, for completion and to look up the names of
/// breakpoints.
static Answer getNames(Engine &engine, NameKind kind) {
  Names names;
  Operation *op = engine.stops.selected ? engine.stops.selected->op() : nullptr;
  switch (kind) {
  case NameKind::Tag:
    addKeys(engine.knownNames.tags, names);
    names.insert({"apply-pattern", "fold", "pass-execution", "transform-op"});
    break;
  case NameKind::Pattern:
    for (const std::string &name : engine.knownNames.patternNames())
      names.insert(name);
    break;
  case NameKind::Pass:
    addKeys(engine.knownNames.passes, names);
    break;
  case NameKind::Operation:
    if (op)
      addOperations(op, names);
    break;
  case NameKind::Function:
    if (op)
      addFunctions(op, names);
    break;
  }
  return Object{{"names", Array(names)}};
}
ADBG_REQUEST("names", getNames,
             fields.choice<NameKind>("kind", "kind of name",
                                     {{"tag", NameKind::Tag},
                                      {"pattern", NameKind::Pattern},
                                      {"pass", NameKind::Pass},
                                      {"op", NameKind::Operation},
                                      {"func", NameKind::Function}}))

/// statistics: counts and time by tag and name.
static Answer getStatistics(Engine &engine) {
  Array rows(engine.observer.statistics.all(), [&](const auto &entry) {
    const Statistic &one = entry.second;
    return Object{
        {"tag", one.tag},
        {"name", one.name},
        {"attempts", int64_t(one.succeeded + one.failed + one.skipped)},
        {"succeeded", int64_t(one.succeeded)},
        {"unchanged", int64_t(one.unchanged)},
        {"failed", int64_t(one.failed)},
        {"skipped", int64_t(one.skipped)},
        {"changes", int64_t(one.changes)},
        {"seconds", engine.observer.secondsOf(one.ticks)}};
  });
  return Object{{"rows", std::move(rows)},
                {"uncounted", int64_t(engine.observer.uncounted)}};
}
ADBG_REQUEST("statistics", getStatistics)

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct CheckpointOptions {
  std::string socket;
  int64_t milliseconds, megabytes;
  static CheckpointOptions parse(Fields &fields) {
    return {fields.text("socket"), fields.integer("milliseconds", 0),
            fields.integer("megabytes", 0)};
  }
};
} // namespace

static std::optional<bool> optionalBoolean(Fields &fields, StringRef key) {
  bool value = fields.boolean(key, false);
  return fields.optional(key) ? std::optional(value) : std::nullopt;
}

/// options/set: sets what is verified, counted and checkpointed, and whether
/// other threads wait while one is at a stop. Absent options keep their value.
static Answer setOptions(Engine &engine, std::optional<bool> verifyEachAction,
                         std::optional<bool> count,
                         std::optional<bool> stopOnCrash,
                         std::optional<bool> threadsWait,
                         std::optional<CheckpointOptions> checkpoints) {
  engine.verifier.isOn = verifyEachAction.value_or(engine.verifier.isOn);
  engine.counts = count.value_or(engine.counts);
  if (threadsWait)
    engine.turns.baton.waitsAtStops = *threadsWait;
  engine.end.stopsOnCrash = stopOnCrash.value_or(engine.end.stopsOnCrash);
  if (checkpoints)
    engine.forks.checkpoints.configure(
        checkpoints->socket, checkpoints->milliseconds, checkpoints->megabytes);
  return Object();
}
ADBG_REQUEST("options/set", setOptions,
             optionalBoolean(fields, "verifyEachAction"),
             optionalBoolean(fields, "count"),
             optionalBoolean(fields, "stopOnCrash"),
             optionalBoolean(fields, "threadsWait"),
             fields.inner<CheckpointOptions>("checkpoints"))

//===----------------------------------------------------------------------===//
// What the agent has learned of the tool
//===----------------------------------------------------------------------===//

static Array describeChecks() {
  Array result;
  for (unsigned i = 0; i < Layout::checks; ++i) {
    auto check = static_cast<Layout::Check>(i);
    result.push_back(Object{{"name", Layout::about[i].name},
                            {"passed", Layout::passed(check)},
                            {"why", Layout::failure(check)}});
  }
  for (const Fact *fact : facts::all)
    if (fact->answer() != Fact::Answer::Unknown)
      result.push_back(Object{{"name", fact->name},
                              {"passed", fact->isProved()},
                              {"why", fact->why()}});
  return result;
}

static Object describeOffsets() {
  const Offsets &offsets = Layout::offsets;
  return Object{{"region size", int64_t(offsets.regionSize)},
                {"region blocks", int64_t(offsets.regionBlocks)},
                {"region parent", int64_t(offsets.regionParent)},
                {"block operations", int64_t(offsets.blockOperations)},
                {"block arguments", int64_t(offsets.blockArguments)},
                {"class name", int64_t(offsets.className)},
                {"abi checks", int64_t(offsets.hasChecks)}};
}

/// facts: the layouts that the agent has learned, and the functions of the tool
/// that it uses, for a report about a build.
static Answer getFacts(Engine &) {
  Object result{
      {"checks", Array()}, {"offsets", Object()}, {"functions", Array()}};
  if (Layout::isDecided()) {
    result["checks"] = describeChecks();
    result["offsets"] = describeOffsets();
  }
  result["functions"] = Array(toolFunctions(), [](const ToolFunction &one) {
    return Object{{"symbol", std::string(one.symbol)}, {"state", one.state}};
  });
  return result;
}
ADBG_REQUEST("facts", getFacts)

//===----------------------------------------------------------------------===//
// The stack of actions
//===----------------------------------------------------------------------===//

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
