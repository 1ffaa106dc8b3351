//===- Alternatives.cpp - Requests about what a fork does otherwise -------===//

#include "engine/Engine.h"
#include "requests/IRSearch.h"
#include "requests/Request.h"
#include "support/Pipelines.h"

namespace adbg {

static RequestError noIR() {
  return RequestError(NotStopped,
                      "there is no IR at this stop; stop before an action");
}

/// Refuses to change the tool itself.
static std::optional<RequestError> refuseTool(const Engine &engine) {
  Role role = engine.forks.role;
  if (role == Role::Trial || role == Role::Replica)
    return std::nullopt;
  return RequestError(NoAnswer, "only a replica or a trial can be changed");
}

struct SetAlternativeArguments {
  std::unique_ptr<Alternative> alternative;
  explicit SetAlternativeArguments(Fields &fields)
      : alternative(std::make_unique<Alternative>()) {
    alternative->benefits = fields.objects<BenefitChange>("benefits");
    alternative->pipelines = fields.texts("pipelines");
    alternative->report = fields.textOr("report", "");
    alternative->ir = fields.textOr("ir", "");
  }
};

/// alternative/set: changes what a fork does from its stop on.
static Answer<NoResult> setAlternative(Engine &engine,
                                       SetAlternativeArguments &arguments) {
  if (std::optional<RequestError> error = refuseTool(engine))
    return *error;
  Operation *root = rootOf(opAround(engine.stops.selected));
  if (!root && !arguments.alternative->pipelines.empty())
    return noIR();
  for (const std::string &pipeline : arguments.alternative->pipelines)
    if (PipelineError error = checkPipeline(root, pipeline))
      return RequestError(InvalidParams, *error);
  engine.alternative = std::move(arguments.alternative);
  return NoResult();
}
ADBG_REQUEST("alternative/set", setAlternative)

struct RunAroundArguments {
  std::vector<std::string> before, instead, after;
  explicit RunAroundArguments(Fields &fields)
      : before(fields.texts("before")), instead(fields.texts("instead")),
        after(fields.texts("after")) {}
};

/// pass/around: runs pipelines around the pass of the stop, or in its place.
static Answer<NoResult> runAround(Engine &engine,
                                  RunAroundArguments &arguments) {
  if (std::optional<RequestError> error = refuseTool(engine))
    return *error;
  Frame *frame = engine.innermost;
  if (!engine.alternative || !frame || frame->kind != Kind::Pass ||
      frame->over || engine.stops.inside)
    return RequestError(NotStopped,
                        "the fork of an alternative is not before a pass");
  for (auto *pipelines :
       {&arguments.before, &arguments.instead, &arguments.after})
    for (const std::string &pipeline : *pipelines)
      if (PipelineError error = checkPipeline(frame->op(), pipeline))
        return RequestError(InvalidParams, *error);
  Rare &rare = frame->needRare();
  rare.before = std::move(arguments.before);
  rare.instead = std::move(arguments.instead);
  rare.after = std::move(arguments.after);
  return NoResult();
}
ADBG_REQUEST("pass/around", runAround)

static Object census(const Engine &engine, const TextMap<int64_t> &operations) {
  Array rules;
  for (const SkipRule &rule : engine.skips.standing())
    rules.push_back(int64_t(rule.uses));
  Array benefits;
  if (engine.alternative)
    benefits = engine.alternative->describeUse();
  return Object{{"operations", asObject(operations)},
                {"applied", int64_t(engine.applied)},
                {"rules", std::move(rules)},
                {"benefits", std::move(benefits)}};
}

void finishAlternative(Engine &engine) {
  if (!engine.alternative || engine.alternative->report.empty())
    return;
  std::error_code error;
  raw_fd_ostream os(engine.alternative->report, error);
  engine.alternative->report.clear();
  if (!error)
    os << Json(census(engine, engine.alternative->finalOperations()));
}

/// census: the operations of the IR by name, and the patterns applied so far.
static Answer<Object> getCensus(Engine &engine) {
  Operation *root = rootOf(opAround(engine.stops.selected));
  if (!root)
    return noIR();
  TextMap<int64_t> counts;
  countOperations(root, counts);
  return census(engine, counts);
}
ADBG_REQUEST("census", getCensus, readsIR)

static Object namesOf(const std::vector<std::string> &passes) {
  Array names;
  for (const std::string &name : passes)
    names.push_back(name);
  return Object{{"names", std::move(names)}};
}

/// passes: the passes that the tool has registered; the passes that it can
/// make, if it lists none.
static Answer<Object> getPasses(Engine &) {
  Answer<Object> answer = answerInFork(
      []() -> Answer<Object> { return namesOf(registeredPasses()); });
  auto *found = std::get_if<Object>(&answer);
  if (found && found->getArray("names")->empty())
    return namesOf(makeablePasses());
  return answer;
}
ADBG_REQUEST("passes", getPasses)

/// Returns a pass as pipelines for `root`: on `root` itself, and on the
/// isolated operations right inside it, of which a pass may need one.
static std::vector<std::string> nestingsOf(StringRef name, Operation *root) {
  std::vector<std::string> found{name.str()};
  std::set<std::string> seen;
  for (Region &region : root->getRegions())
    for (Block &block : region)
      for (Operation &op : block)
        if (isIsolated(&op) && op.getName().isRegistered())
          seen.insert(op.getName().getStringRef().str());
  for (const std::string &anchor : seen)
    found.push_back(anchor + "(" + name.str() + ")");
  return found;
}

/// Whether a pass was refused because it runs on other operations.
static bool needsNesting(StringRef error) {
  return error.contains("unable to schedule pass") ||
         (error.contains("trying to schedule pass '") &&
          error.contains("on an unsupported operation")) ||
         error.contains("on a PassManager intended to run on");
}

struct TryPassArguments {
  std::string name;
  explicit TryPassArguments(Fields &fields) : name(fields.text("name")) {}
};

/// pass/try: runs a pass on the IR of a fork.
static Answer<Object> tryPass(Engine &engine, TryPassArguments &arguments) {
  if (std::optional<RequestError> error = refuseTool(engine))
    return *error;
  Operation *root = rootOf(opAround(engine.stops.selected));
  if (!root || !engine.innermost)
    return noIR();
  // Counts what the pass changes as changes of the action of the stop.
  engine.counts = true;
  Frame &frame = *engine.innermost;
  Attention attention;
  uint64_t before = digest(root);
  PipelineError first;
  for (const std::string &one : nestingsOf(arguments.name, root)) {
    Tally old = frame.tally;
    PipelineError error = runPipeline(root, one);
    if (error && !first)
      first = error;
    if (error && needsNesting(*error))
      continue;
    Object counts;
    for (unsigned kind = 0; kind < changeKinds; ++kind)
      counts[textOf(ChangeKind(kind))] =
          int64_t(frame.tally.counts[kind]) - int64_t(old.counts[kind]);
    return Object{{"pipeline", one},
                  {"changed", digest(root) != before},
                  {"counts", std::move(counts)},
                  {"error", error}};
  }
  return Object{{"pipeline", arguments.name},
                {"changed", false},
                {"counts", Object{}},
                {"error", first.value_or("")}};
}
ADBG_REQUEST("pass/try", tryPass)

} // namespace adbg
