//===- Forks.cpp - Requests about forks of the tool -----------------------===//
//
// Source of the layouts of classes: the Itanium C++ ABI, "Virtual Table Layout"
// and "Member Function Pointers".
//
//===----------------------------------------------------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "interpose/SeenPrograms.h"
#include "requests/Request.h"
#include "support/ExitAtOnce.h"
#include "support/Pipelines.h"
#include "support/Symbols.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

static ForkSettings parseSettings(Fields &fields) {
  ForkSettings settings;
  settings.socket = fields.text("socket");
  settings.role = fields.choice<Role>("role", "role",
                                      {{"tool", Role::Tool},
                                       {"checkpoint", Role::Checkpoint},
                                       {"replica", Role::Replica},
                                       {"trial", Role::Trial}});
  settings.outputs.standard[0] = fields.textOr("stdout", "");
  settings.outputs.standard[1] = fields.textOr("stderr", "");
  settings.outputs.others = fields.textOr("output", "");
  std::vector<int64_t> muted = fields.integers("muted");
  for (int64_t fd : fields.integers("shared"))
    settings.shared.push_back(fd);
  if (!muted.empty() && muted.size() != 3)
    fields.fail("the field 'muted' is not a list of three integers");
  else if (!muted.empty())
    settings.muted = ShownOutput{{{uint64_t(muted[0]), uint64_t(muted[1])}},
                                 uint64_t(muted[2])};
  return settings;
}

/// fork: forks the tool; the fork connects on its own.
static Answer forkTool(Engine &engine, const ForkSettings &settings) {
  if (std::optional<std::string> why = engine.turns.whyNoFork())
    return RequestError(NoAnswer, "the tool cannot be forked: " + *why);
  pid_t pid = engine.fork(settings);
  if (pid == 0) {
    // A stop at which a checkpoint is restored is shown anew.
    if (settings.role == Role::Checkpoint && engine.stops.selected)
      engine.stops.select(engine.stops.frameAt(0));
    return Unanswered();
  }
  if (pid < 0)
    return RequestError(NoAnswer, "the tool cannot be forked");
  return Object{{"pid", int64_t(pid)}};
}
ADBG_REQUEST("fork", forkTool, parseSettings(fields))

/// exit: ends the process as the fork ended that took its place.
static Answer exitAs(Engine &, int64_t status) {
  if (status < 0)
    dieOf(int(-status));
  exitAtOnce(int(status));
}
ADBG_REQUEST("exit", exitAs, fields.integer("status", -NSIG))

/// settle: truncates the tool's files to the output of this timeline.
static Answer settleFiles(Engine &engine) {
  SettledFiles settled = engine.forks.files.settle();
  engine.trace.becomeRun(engine.position.ordinal);
  noteDebugged(/*isReplay=*/false);
  return Object{{"remade", Array(settled.remade)},
                {"lost", Array(settled.lost)}};
}
ADBG_REQUEST("settle", settleFiles)

/// follow: opens files that the tool has made again.
static Answer followFiles(Engine &engine,
                          const std::vector<std::string> &files) {
  engine.forks.files.follow(files);
  return Object();
}
ADBG_REQUEST("follow", followFiles, fields.texts("files"))

//===----------------------------------------------------------------------===//
// Recordings of a fork
//===----------------------------------------------------------------------===//

/// recording/open: records a fork that is at the beginning of the run.
static Answer openRecording(Engine &engine, const std::string &path) {
  if (engine.forks.role == Role::Tool || engine.position.ordinal)
    return RequestError(NoAnswer,
                        "only a fork at the beginning of the run is recorded");
  RecordSettings settings;
  settings.path = path;
  settings.lineage = "on";
  if (!engine.beginRecording(settings))
    return notWritten(path, {errno, std::generic_category()});
  return Object();
}
ADBG_REQUEST("recording/open", openRecording, fields.text("path"))

/// recording/stage: adds the IR as it is now.
static Answer recordStage(Engine &engine) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  if (!engine.recordStage())
    return RequestError(NoAnswer, "there is no IR outside of actions");
  return Object();
}
ADBG_REQUEST("recording/stage", recordStage)

static Answer closeRecording(Engine &) {
  if (!Recorder::isOn())
    return RequestError(NoAnswer, "nothing is recorded");
  Recorder::finish(0);
  return Object();
}
ADBG_REQUEST("recording/close", closeRecording)

//===----------------------------------------------------------------------===//
// What a fork does otherwise
//===----------------------------------------------------------------------===//

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

static std::unique_ptr<Alternative> parseAlternative(Fields &fields) {
  auto alternative = std::make_unique<Alternative>();
  alternative->benefits = fields.objects<BenefitChange>("benefits");
  alternative->pipelines = fields.texts("pipelines");
  alternative->report = fields.textOr("report", "");
  alternative->ir = fields.textOr("ir", "");
  return alternative;
}

/// alternative/set: changes what a fork does from its stop on.
static Answer setAlternative(Engine &engine,
                             std::unique_ptr<Alternative> alternative) {
  if (std::optional<RequestError> error = refuseTool(engine))
    return *error;
  Operation *root = rootOf(opAround(engine.stops.selected));
  if (!root && !alternative->pipelines.empty())
    return noIR();
  for (const std::string &pipeline : alternative->pipelines)
    if (PipelineError error = checkPipeline(root, pipeline))
      return RequestError(InvalidParams, *error);
  engine.alternative = std::move(alternative);
  return Object();
}
ADBG_REQUEST("alternative/set", setAlternative, parseAlternative(fields))

using Pipelines = std::vector<std::string>;

/// pass/around: runs pipelines around the pass of the stop, or in its place.
static Answer runAround(Engine &engine, Pipelines before, Pipelines instead,
                        Pipelines after) {
  if (std::optional<RequestError> error = refuseTool(engine))
    return *error;
  Frame *frame = engine.innermost;
  if (!engine.alternative || !frame || frame->kind != Kind::Pass ||
      frame->over || engine.stops.inside)
    return RequestError(NotStopped,
                        "the fork of an alternative is not before a pass");
  for (const Pipelines *pipelines : {&before, &instead, &after})
    for (const std::string &pipeline : *pipelines)
      if (PipelineError error = checkPipeline(frame->op(), pipeline))
        return RequestError(InvalidParams, *error);
  Rare &rare = frame->needRare();
  rare.before = std::move(before);
  rare.instead = std::move(instead);
  rare.after = std::move(after);
  return Object();
}
ADBG_REQUEST("pass/around", runAround, fields.texts("before"),
             fields.texts("instead"), fields.texts("after"))

static Object census(const Engine &engine, const TextMap<int64_t> &operations) {
  Array rules(engine.skips.standing(),
              [](const SkipRule &rule) { return rule.matched; });
  Array skipped(engine.skips.standing(),
                [](const SkipRule &rule) { return rule.skipped; });
  Array benefits;
  if (engine.alternative)
    benefits = Array(engine.alternative->benefits,
                     [](const BenefitChange &one) { return one.isUsed; });
  Object counts;
  for (const auto &[name, count] : operations)
    counts[name] = count;
  return Object{{"operations", std::move(counts)},
                {"applied", int64_t(engine.applied)},
                {"rules", std::move(rules)},
                {"skipped", std::move(skipped)},
                {"benefits", std::move(benefits)}};
}

void finishAlternative(Engine &engine) {
  if (!engine.alternative || engine.alternative->report.empty())
    return;
  std::error_code error;
  raw_fd_ostream os(engine.alternative->report, error);
  engine.alternative->report.clear();
  if (!error)
    os << Json(census(engine, engine.alternative->operations()));
  engine.alternative->writeIR();
}

/// census: the operations of the IR by name, and the patterns applied so far.
static Answer getCensus(Engine &engine) {
  Operation *root = rootOf(opAround(engine.stops.selected));
  if (!root)
    return noIR();
  TextMap<int64_t> counts;
  countOperations(root, counts);
  return census(engine, counts);
}
ADBG_IR_REQUEST("census", getCensus)

/// passes: the passes that the tool has registered; the passes that it can
/// make, if it lists none.
static Answer getPasses(Engine &) {
  Answer answer =
      answerInFork([] { return Object{{"names", registeredPasses()}}; });
  auto *found = std::get_if<Json>(&answer);
  if (found && found->getAsObject()->getArray("names")->empty())
    return Object{{"names", makeablePasses()}};
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

/// pass/try: runs a pass on the IR of a fork.
static Answer tryPass(Engine &engine, const std::string &name) {
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
  for (const std::string &one : nestingsOf(name, root)) {
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
  return Object{{"pipeline", name},
                {"changed", false},
                {"counts", Object{}},
                {"error", first.value_or("")}};
}
ADBG_REQUEST("pass/try", tryPass, fields.text("name"))

//===----------------------------------------------------------------------===//
// Native debuggers
//===----------------------------------------------------------------------===//

using Functions = std::vector<const void *>;
using Table = const void *const *;

static Table tableOf(const void *object) {
  Table table;
  memcpy(static_cast<void *>(&table), object, sizeof(table));
  return table;
}

/// Returns the index of a virtual function in its class's table.
template <class Member> static size_t indexOf(Member member) {
  uintptr_t words[2];
  static_assert(sizeof(member) == sizeof(words));
  memcpy(words, &member, sizeof(words));
  return (words[0] - 1) / sizeof(void *);
}

/// Whether a function belongs to one of MLIR's classes that patterns derive
/// from, and which only forward the call.
static bool isForwarding(StringRef name) {
  for (StringRef base :
       {"mlir::RewritePattern::", "mlir::ConversionPattern::",
        "mlir::OpConversionPattern<", "mlir::OpInterfaceConversionPattern<",
        "mlir::OpTraitConversionPattern<", "mlir::ConvertOpToLLVMPattern<",
        "mlir::ConvertOpInterfaceToLLVMPattern<",
        "mlir::detail::OpOrInterfaceRewritePatternBase<"})
    if (name.starts_with(base))
      return true;
  return false;
}

static Functions functionsOf(const Pattern &pattern) {
  UnnamedPattern parts(pattern);
  if (!parts.vtable)
    return {};
  if (pattern.getDebugName().empty() && parts.function)
    return {parts.function};
  // Behind the two destructors; without RewritePattern::anchor.
  constexpr size_t first = 2, anchor = 3, most = 32;
  Functions all, own;
  for (size_t i = first; i < most && Place::of(parts.vtable[i]).isCode; ++i) {
    const void *function = parts.vtable[i];
    // An unreachable function may be empty, and begin where another does.
    if (i == anchor || llvm::is_contained(all, function))
      continue;
    all.push_back(function);
    if (!isForwarding(readableName(symbolAt(function))))
      own.push_back(function);
  }
  return own.empty() ? all : own;
}

Functions functionsOf(const Frame &frame) {
  if (frame.isRealPass())
    return {tableOf(frame.pass())[indexOf(&Pass::runOnOperation)]};
  if (frame.kind == Kind::Pattern)
    return functionsOf(*frame.pattern());
  if (Operation *op = frame.kind == Kind::Fold ? frame.op() : nullptr)
    return {tableOf(
        op->getName().getImpl())[indexOf(&detail::InterfaceConcept::foldHook)]};
  return {};
}

/// Sends the standard output and errors of this process to a file.
static bool sendOutput(const std::string &path) {
  int file = open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return false;
  bool isDone = dup2(file, 1) >= 0 && dup2(file, 2) >= 0;
  close(file);
  return isDone;
}

static Object describeFunction(const void *function) {
  return Object{{"address", int64_t(reinterpret_cast<intptr_t>(function))},
                {"name", textOrNull(nameOfFunction(function))},
                {"place", Place::of(function).offsetOf(function)}};
}

/// native/prepare: readies a replica for a native debugger. `output`: the file
/// or terminal for the output of this process.
static Answer prepareNative(Engine &engine, const std::string &output) {
  if (engine.forks.role != Role::Replica)
    return RequestError(NoAnswer, "only a replica can be debugged");
  if (!sendOutput(output))
    return RequestError(FileNotWritten,
                        "the file '" + output +
                            "' cannot be written: " + strerror(errno));
  // Otherwise only an ancestor may attach, where Yama restricts it.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  Array functions;
  if (engine.stops.isBeforeInnermost())
    for (const void *function : functionsOf(*engine.innermost))
      functions.push_back(describeFunction(function));
  return Object{{"functions", std::move(functions)}};
}
ADBG_REQUEST("native/prepare", prepareNative, fields.text("output"))

} // namespace adbg
