//===- Status.cpp - Requests about the run as a whole ---------------------===//

#include "detour/Hooks.h"
#include "engine/Engine.h"
#include "requests/Request.h"

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
    return one.describe(engine.observer.secondsOf(one.ticks));
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

} // namespace adbg
