#include "edit/EditPlan.h"
#include "edit/Splice.h"
#include "engine/Engine.h"
#include "interpose/Versions.h"
#include "requests/IRSearch.h"
#include "support/Pipelines.h"
#include "support/ReadFile.h"

#include "layout/Proof.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

namespace {
/// A block for parsed IR: the body of a new module, as only the tool knows the
/// layout of a block.
class ScratchBlock {
public:
  explicit ScratchBlock(MLIRContext *context)
      : module(tool::makeModule(tool::unknownLocation(context), {})) {}
  ~ScratchBlock() { module->erase(); }
  ScratchBlock(const ScratchBlock &) = delete;
  Block &operator*() { return module->getRegion(0).front(); }

private:
  Operation *module;
};
} // namespace

/// The file name in the locations of edited lines.
static constexpr StringRef editSource = "<edit>";

Edit Edit::parse(Fields &fields) {
  Edit edit;
  edit.event = fields.integer("event", 1);
  edit.id = fields.integer("id", 1);
  edit.path = fields.textOr("path", "");
  edit.pipeline = fields.textOr("pipeline", "");
  edit.generic = fields.boolean("generic", false);
  if (edit.path.empty() == edit.pipeline.empty())
    fields.fail("an edit has either the field 'path' or the field 'pipeline'");
  return edit;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Returns why an operation must not be changed now; empty if it may be. Pass
/// managers tolerate changes around a pass of their own; a pass or a driver
/// that is running holds pointers to operations.
static std::string whyFixed(const Frame *frame, bool isInside,
                            Operation *target) {
  if (!frame || isInside || frame->kind != Kind::Pass)
    return "IR can be edited only at a stop before or after a pass";
  for (const Frame *around = frame->parent; around; around = around->parent)
    if (!around->isAdaptor())
      return "#" + std::to_string(around->ordinal) + " " + around->name() +
             " is running, and holds operations of this IR";
  Operation *op = frame->op();
  if (!op || target->isProperAncestor(op))
    return "a pass manager is iterating over the operations in this one";
  return "";
}

/// Drops the cached analyses of an operation and of all operations in it.
static void invalidateAnalyses(const Frame *frame, Operation *target) {
  for (const Frame *at = frame; at; at = at->parent) {
    Operation *op = at->op();
    const auto &state = at->pass()->passState;
    if (!op || !state || !op->isAncestor(target))
      continue;
    AnalysisManager manager = state->analysisManager;
    // A running pass manager uses the analyses of the other operations.
    if (at != frame)
      manager = manager.nest(target);
    manager.invalidateAll();
    return;
  }
}

//===----------------------------------------------------------------------===//
// Parsing and running
//===----------------------------------------------------------------------===//

namespace {
/// Collects the errors that MLIR reports, instead of the tool's handlers.
class EditErrors {
public:
  explicit EditErrors(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              first.empty())
            first = placeOf(diagnostic) + diagnostic.str();
          return success();
        }) {}

  std::string textOr(StringRef otherwise) const {
    return first.empty() ? otherwise.str() : first;
  }

private:
  static std::string placeOf(const Diagnostic &diagnostic) {
    std::optional<FilePlace> place = asFilePlace(diagnostic.getLocation());
    if (!place || place->file != editSource)
      return "";
    return "line " + std::to_string(place->line) + ", column " +
           std::to_string(place->column) + ": ";
  }

  std::string first;
  ScopedDiagnosticHandler handler;
};

/// Lets MLIR load dialects, which it does not while a pass manager runs.
class LoadingDialects {
public:
  explicit LoadingDialects(MLIRContext *context) : context(context) {
    for (unsigned i = 0; i < runningPassManagers; ++i)
      context->exitMultiThreadedExecution();
  }
  ~LoadingDialects() {
    for (unsigned i = 0; i < runningPassManagers; ++i)
      context->enterMultiThreadedExecution();
  }

private:
  MLIRContext *context;
};

/// The tool's, with room for what is behind: empty maps and vectors.
struct ParserConfig {
  MLIRContext *context;
  bool verifiesAfter = false;
  uint64_t others[64] = {};
};
} // namespace

static std::string replaceBy(StringRef text, Operation *target, bool generic) {
  EditErrors errors(target->getContext());
  ScratchBlock scratch(target->getContext());
  Block &block = *scratch;
  ParserConfig config{target->getContext()};
  LogicalResult parsed = failure();
  {
    LoadingDialects loading(target->getContext());
    parsed = tool::parseSource(text, &block, &config, editSource, nullptr);
  }
  if (failed(parsed))
    return errors.textOr("the edited IR does not parse");
  if (block.getOperations().size() != 1)
    return "the edited IR must be one " +
           target->getName().getStringRef().str() + ", and has " +
           std::to_string(block.getOperations().size()) + " operations";
  Operation *edited = &block.front();
  if (edited->getName() != target->getName() ||
      edited->getNumRegions() != target->getNumRegions() ||
      edited->getNumResults() != target->getNumResults())
    return "the edited IR must be one " +
           target->getName().getStringRef().str() + ", and is one " +
           edited->getName().getStringRef().str();
  edited->remove();
  std::string before;
  raw_string_ostream os(before);
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  AsmState::LocationMap lines;
  AsmState state(target, flags, &lines);
  target->print(os, state);
  Splice(before, lines, text, editSource).into(target, edited);
  return "";
}

static std::string whyEditInvalid(Operation *op) {
  EditErrors errors(op->getContext());
  return succeeded(mlir::verify(op)) ? "" : errors.textOr("it does not verify");
}

static std::string applyEdit(Engine &engine, const Edit &edit) {
  Operation *target = ids.find(edit.id);
  if (!target)
    return "there is no operation @" + std::to_string(edit.id);
  std::string why = whyFixed(engine.innermost, engine.stops.inside, target);
  if (!why.empty())
    return why;
  const Frame *frame = engine.innermost;
  Editing editing;
  ToolHeap toolHeap;
  // Other functions may be invalid at this place of the pipeline anyway.
  Operation *checked = rootOf(target);
  if (!whyEditInvalid(checked).empty())
    checked = target;
  if (edit.pipeline.empty()) {
    std::optional<std::string> text = readFile(edit.path.c_str());
    if (!text)
      return "cannot read " + edit.path + ": " + strerror(errno);
    why = replaceBy(*text, target, edit.generic);
  } else if (PipelineError error = runPipeline(target, edit.pipeline)) {
    why = "the passes cannot be applied: " + *error;
  }
  if (why.empty())
    why = whyEditInvalid(checked);
  invalidateAnalyses(frame, target);
  return why;
}

/// Returns why an edit cannot be applied; empty if it can be. Without headers,
/// it is tried in a fork.
static std::string tryEdit([[maybe_unused]] Engine &engine,
                           [[maybe_unused]] const Edit &edit) {
  auto step = [&]() -> std::string {
    if (edit.pipeline.empty())
      return applyEdit(engine, edit);
    // Passes take their time, and are the tool's own.
    Operation *target = ids.find(edit.id);
    if (!target ||
        !whyFixed(engine.innermost, engine.stops.inside, target).empty())
      return ""; // refused below
    Editing editing;
    PipelineError error = checkPipeline(target, edit.pipeline);
    invalidateAnalyses(engine.innermost, target);
    return error ? "the passes cannot be applied: " + *error : "";
  };
  return proveInForks({{nullptr, step}}).front();
}

std::string EditPlan::apply(Engine &engine) {
  uint64_t now = engine.position.event;
  size_t done = event == now ? applied : 0, seen = 0;
  for (const Edit &edit : all) {
    if (edit.event != now || seen++ < done)
      continue;
    std::string why = tryEdit(engine, edit);
    if (why.empty())
      why = applyEdit(engine, edit);
    if (!why.empty())
      return why;
    event = now;
    applied = seen;
  }
  return "";
}

} // namespace adbg
