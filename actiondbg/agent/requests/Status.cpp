//===- Status.cpp - Requests about the run so far -------------------------===//

#include "detour/Hooks.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/IRSearch.h"
#include "requests/Request.h"

namespace adbg {

/// status: the position of the run and the agent's memory use.
static Answer<Object> getStatus(Engine &engine) {
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
static Answer<Object> getContexts(Engine &engine) {
  return Object{{"contexts", engine.turns.describeContexts()}};
}
ADBG_REQUEST("contexts", getContexts)

/// threads: the threads that ran actions.
static Answer<Object> getThreads(Engine &engine) {
  return Object{{"threads", engine.turns.describeThreads()}};
}
ADBG_REQUEST("threads", getThreads)

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

struct GetNamesArguments {
  enum class Kind { Tag, Pattern, Pass, Operation, Function };
  Kind kind;

  explicit GetNamesArguments(Fields &fields)
      : kind(fields.choice<Kind>("kind", "kind of name",
                                 {{"tag", Kind::Tag},
                                  {"pattern", Kind::Pattern},
                                  {"pass", Kind::Pass},
                                  {"op", Kind::Operation},
                                  {"func", Kind::Function}})) {}
};

using Names = std::set<std::string>;

static void addKeys(const TextMap<uint64_t> &map, Names &names) {
  for (const auto &[name, number] : map)
    names.insert(name);
}

static void addOperations(const Engine &engine, Names &names) {
  Operation *op = engine.stops.selected ? engine.stops.selected->op() : nullptr;
  if (!op)
    return;
  for (RegisteredOperationName name :
       op->getContext()->getRegisteredOperations())
    names.insert(name.getStringRef().str());
}

/// Adds the functions of the module that is there now.
static void addFunctions(const Engine &engine, Names &names) {
  Operation *root =
      engine.stops.selected ? engine.stops.selected->op() : nullptr;
  if (!root)
    return;
  rootOf(root)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = mayBeFunction(op) ? symbolName(op) : "";
    if (name.empty())
      return isSymbolTable(op) ? WalkResult::advance() : WalkResult::skip();
    names.insert(name.str());
    return WalkResult::skip();
  });
}

/// names: the names of one kind, for completion and to look up the names of
/// breakpoints.
static Answer<Object> getNames(Engine &engine, GetNamesArguments &arguments) {
  using Kind = GetNamesArguments::Kind;
  Names names;
  switch (arguments.kind) {
  case Kind::Tag:
    addKeys(engine.knownNames.tags, names);
    names.insert({"apply-pattern", "fold", "pass-execution", "transform-op"});
    break;
  case Kind::Pattern:
    for (const std::string &name : engine.knownNames.patternNames())
      names.insert(name);
    break;
  case Kind::Pass:
    addKeys(engine.knownNames.passes, names);
    break;
  case Kind::Operation:
    addOperations(engine, names);
    break;
  case Kind::Function:
    addFunctions(engine, names);
    break;
  }
  Array list;
  for (const std::string &name : names)
    list.push_back(name);
  return Object{{"names", std::move(list)}};
}
ADBG_REQUEST("names", getNames)

/// statistics: counts and time by tag and name.
static Answer<Object> getStatistics(Engine &engine) {
  Array rows;
  for (const auto &entry : engine.observer.statistics.all()) {
    const Statistic &one = entry.second;
    rows.push_back(
        Object{{"tag", one.tag},
               {"name", one.name},
               {"attempts", int64_t(one.succeeded + one.failed + one.skipped)},
               {"succeeded", int64_t(one.succeeded)},
               {"unchanged", int64_t(one.unchanged)},
               {"failed", int64_t(one.failed)},
               {"skipped", int64_t(one.skipped)},
               {"changes", int64_t(one.changes)},
               {"seconds", engine.observer.secondsOf(one.ticks)}});
  }
  return Object{{"rows", std::move(rows)},
                {"uncounted", int64_t(engine.observer.uncounted)}};
}
ADBG_REQUEST("statistics", getStatistics)

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

struct SetOptionsArguments {
  struct Checkpoints {
    std::string socket;
    int64_t milliseconds, megabytes;
    static Checkpoints parse(Fields &fields) {
      return {fields.text("socket"), fields.integer("milliseconds", 0),
              fields.integer("megabytes", 0)};
    }
  };
  /// Absent options keep their value.
  std::optional<bool> verifyEachAction, count, stopOnCrash;
  /// Whether other threads wait while one is at a stop.
  std::optional<bool> threadsWait;
  std::optional<Checkpoints> checkpoints;
  explicit SetOptionsArguments(Fields &fields);
};

static std::optional<bool> optionalBoolean(Fields &fields, StringRef key) {
  bool value = fields.boolean(key, false);
  return fields.optional(key) ? std::optional(value) : std::nullopt;
}

SetOptionsArguments::SetOptionsArguments(Fields &fields)
    : verifyEachAction(optionalBoolean(fields, "verifyEachAction")),
      count(optionalBoolean(fields, "count")),
      stopOnCrash(optionalBoolean(fields, "stopOnCrash")),
      threadsWait(optionalBoolean(fields, "threadsWait")),
      checkpoints(fields.inner<Checkpoints>("checkpoints")) {}

/// options/set: sets what is verified, counted and checkpointed, and
/// whether threads wait.
static Answer<NoResult> setOptions(Engine &engine,
                                   SetOptionsArguments &arguments) {
  engine.verifier.isOn =
      arguments.verifyEachAction.value_or(engine.verifier.isOn);
  engine.counts = arguments.count.value_or(engine.counts);
  if (arguments.threadsWait)
    engine.turns.baton.waitsAtStops = *arguments.threadsWait;
  engine.end.stopsOnCrash =
      arguments.stopOnCrash.value_or(engine.end.stopsOnCrash);
  if (const auto &checkpoints = arguments.checkpoints)
    engine.forks.checkpoints.configure(
        checkpoints->socket, checkpoints->milliseconds, checkpoints->megabytes);
  return NoResult();
}
ADBG_REQUEST("options/set", setOptions)

//===----------------------------------------------------------------------===//
// What the agent has learned of the tool
//===----------------------------------------------------------------------===//

static Array describeChecks() {
  using Check = Layout::Check;
  static constexpr struct {
    Check check;
    const char *name;
  } checks[] = {
      {Check::Operations, "operations"}, {Check::Regions, "regions"},
      {Check::Values, "values"},         {Check::Locations, "locations"},
      {Check::Printing, "printing"},     {Check::Lines, "lines"}};
  Array result;
  for (const auto &one : checks)
    result.push_back(Object{{"name", one.name},
                            {"passed", Layout::passed(one.check)},
                            {"why", Layout::failure(one.check)}});
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
static Answer<Object> getFacts(Engine &) {
  Object result{
      {"checks", Array()}, {"offsets", Object()}, {"functions", Array()}};
  if (Layout::isDecided()) {
    result["checks"] = describeChecks();
    result["offsets"] = describeOffsets();
  }
  Array functions;
  for (const ToolFunction &one : toolFunctions())
    functions.push_back(
        Object{{"symbol", std::string(one.symbol)}, {"state", one.state}});
  result["functions"] = std::move(functions);
  return result;
}
ADBG_REQUEST("facts", getFacts)

} // namespace adbg
