//===- EngineThreads.cpp - The engines of threads -------------------------===//

#include "engine/Engine.h"
#include "fork/CrashSignals.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

__thread Engine::ThreadState Engine::local;

std::atomic<unsigned> Engine::threads{0};

/// The rules of a recording: the engine of each thread has its own copy.
static std::string standingRules;

namespace {
/// The engine of a thread other than the first; flushed and destroyed with its
/// thread.
struct OwnEngine {
  Engine engine;
  ~OwnEngine() { engine.leaveThread(); }
};
} // namespace

Engine &Engine::first() {
  // Never destroyed: the tool may dispatch in static destructors.
  static Engine *engine = new Engine;
  return *engine;
}

Engine &Engine::make() {
  if (!first().isObserving) {
    local.engine = &first();
    return first();
  }
  static thread_local OwnEngine own;
  own.engine.observe();
  return own.engine;
}

void Engine::leaveThread() { local = {&first(), /*isHome=*/false}; }

void Engine::observe() {
  ++threads;
  local = {this, /*isHome=*/true};
  attached = isObserving = true;
  erasedUnits.followPassesOnly();
  observer.isTallied = true;
  hasRules = !standingRules.empty();
  if (hasRules)
    skips.setRules(standingRules);
  if (!Recorder::isOn())
    return;
  recorder = std::make_unique<Recorder>(observer.ids, names);
  observer.recorder = recorder.get();
}

bool Engine::startObserving(const RecordSettings &settings, bool isThreaded) {
  if (!settings.skips.empty() && !first().skips.setRules(settings.skips)) {
    llvm::errs() << "actiondbg: the agent cannot read the skip rules: "
                 << settings.skips << "\n";
    return false;
  }
  standingRules = settings.skips;
  if (!settings.path.empty() && !Recorder::start(settings, isThreaded))
    return false;
  if (!settings.upstreamLog.empty() &&
      !UpstreamLog::start(settings.upstreamLog.c_str()))
    return false;
  Identities::disableFind();
  on_exit([](int status, void *) { first().end.exitStatus = status; }, nullptr);
  first().observe();
  handleCrashSignals();
  return true;
}

bool Engine::beginRecording(const RecordSettings &settings) {
  if (!Recorder::start(settings, /*isThreaded=*/false))
    return false;
  recorder = std::make_unique<Recorder>(observer.ids, names);
  observer.recorder = recorder.get();
  return true;
}

bool Engine::recordStage() {
  Frame *outermost = innermost;
  while (outermost && outermost->parent)
    outermost = outermost->parent;
  Operation *root = outermost ? outermost->op() : nullptr;
  while (root && root->getParentOp())
    root = root->getParentOp();
  if (root)
    Stages::between(root, *recorder);
  return root;
}

/// Attributes an outermost action of this thread to the action of the first
/// thread, which waits for it.
void Engine::attributeToFirst(const Frame &frame) {
  Frame *around = first().innermost;
  if (around && frame.changed())
    ++around->changesElsewhere;
}

void Engine::reason(Frame &frame, const Diagnostic &diagnostic) {
  // Usually a single string literal.
  llvm::ArrayRef<DiagnosticArgument> parts = diagnostic.getArguments();
  using Kind = DiagnosticArgument::DiagnosticArgumentKind;
  if (parts.size() == 1 && parts[0].getKind() == Kind::String)
    return reason(frame, parts[0].getAsString());
  llvm::SmallString<256> text;
  llvm::raw_svector_ostream os(text);
  diagnostic.print(os);
  reason(frame, text);
}

} // namespace adbg
