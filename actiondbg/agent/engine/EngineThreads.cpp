//===- EngineThreads.cpp - The engines of threads -------------------------===//

#include "engine/Engine.h"
#include "fork/Forks.h"
#include "print/InputNames.h"
#include "print/ValueKeys.h"
#include "support/Unwinding.h"

namespace adbg {

__thread Engine::ThreadState Engine::local;

std::atomic<unsigned> Engine::threads{0};

/// The rules of a recording: the engine of each thread has its own copy.
static std::string standingRules;

namespace {
struct ThreadEngines {
  std::mutex mutex;
  std::vector<Engine *> all;
};
} // namespace

static ThreadEngines &threadEngines() { return immortal<ThreadEngines>(); }

/// The engine of the thread that began the part; null once the thread has
/// ended.
static Engine *leader = nullptr;

namespace {
/// The engine of a thread of a recording other than the first, or of a thread
/// for one part: a recording describes each operation and name anew, so that
/// nothing of an earlier one may be remembered. Flushed and destroyed with its
/// thread.
struct OwnEngine {
  Engine engine;
  OwnEngine() {
    ThreadEngines &others = threadEngines();
    std::lock_guard<std::mutex> lock(others.mutex);
    others.all.push_back(&engine);
  }
  ~OwnEngine() {
    if (leader == &engine)
      leader = nullptr;
    engine.leaveThread();
    ThreadEngines &others = threadEngines();
    std::lock_guard<std::mutex> lock(others.mutex);
    std::erase(others.all, &engine);
  }
};
} // namespace

static Engine *&firstEngine() {
  // Never destroyed: the tool may dispatch in static destructors.
  static Engine *engine = new Engine;
  return engine;
}

Engine &Engine::first() { return *firstEngine(); }

Engine &Engine::make() {
  if (!first().isObserving) {
    local.engine = &first();
    return first();
  }
  // Not in the thread's storage, of which a process has little left for a
  // library that it loads later.
  static thread_local std::unique_ptr<OwnEngine> own;
  own = std::make_unique<OwnEngine>();
  own->engine.observe();
  return own->engine;
}

bool Engine::isBusyElsewhere() {
  Engine &one = first();
  if (one.attached && !one.isObserving) {
    pid_t holder = one.turns.baton.holder();
    return holder && holder != threadId();
  }
  ThreadEngines &others = threadEngines();
  std::lock_guard<std::mutex> lock(others.mutex);
  return (local.engine != &one && one.innermost) ||
         std::ranges::any_of(others.all, [](const Engine *other) {
           return other != local.engine && other->innermost;
         });
}

void Engine::leaveThread() {
  local.engine = &first();
  local.isFollowed = local.isInside = local.isPassing = false;
}

void Engine::observe() {
  ++threads;
  Instances::isBusyElsewhere = isBusyElsewhere;
  local.engine = this;
  local.isFollowed = local.isInside = true;
  attached = isObserving = true;
  erasedUnits.followPassesOnly();
  observer.isTallied = true;
  hasRules = !standingRules.empty();
  if (hasRules)
    skips.setRules(standingRules);
  if (Recorder::isOn())
    record();
}

void Engine::record() {
  recorder = std::make_unique<Recorder>(names);
  observer.recorder = recorder.get();
}

/// Sets the rules of each thread; returns false if they are invalid.
static bool setStandingRules(const std::string &json) {
  if (!json.empty() && !Skips().setRules(json))
    return false;
  standingRules = json;
  return true;
}

bool Engine::startObserving(const RecordSettings &settings, bool isThreaded) {
  if (!setStandingRules(settings.skips)) {
    llvm::errs() << "actiondbg: the agent cannot read the skip rules: "
                 << settings.skips << "\n";
    return false;
  }
  if (!settings.path.empty() && !Recorder::start(settings, isThreaded))
    return false;
  if (!settings.upstreamLog.empty() &&
      !UpstreamLog::start(settings.upstreamLog.c_str()))
    return false;
  Identities::disableFind();
  BlockKeys::all().record(Recorder::keepsValues());
  first().pid = getpid();
  first().observe();
  EndReport::watch();
  return true;
}

void Engine::renew() {
  AgentHeap agentHeap;
  local = ThreadState();
  threads = 0;
  threadEngines().all.clear();
  Recorder::forgetThreads();
  Contexts::all().clear();
  ids.clear();
  InputNames::all().clear();
  forgetContexts();
  // The engine before stays allocated: objects refer to it.
  firstEngine() = new Engine;
}

//===----------------------------------------------------------------------===//
// Parts of a program
//===----------------------------------------------------------------------===//

bool Engine::isLibrary = false;
bool Engine::isForked = false;
bool Engine::isInPart = false;

static unsigned newestPart = 0;
bool Engine::joinOpenPart() {
  Engine &before = get();
  if (local.part == newestPart || before.silent || before.innermost)
    return false;
  AgentHeap agentHeap;
  static thread_local std::unique_ptr<OwnEngine> own;
  own = nullptr; // its destructor resets `local`
  own = std::make_unique<OwnEngine>();
  ids.renew();
  own->engine.observe();
  local.part = newestPart;
  return true;
}

bool Engine::beginPart(const RecordSettings &settings) {
  AgentHeap agentHeap;
  if (!setStandingRules(settings.skips) ||
      !Recorder::start(settings, /*isThreaded=*/true))
    return false;
  static bool isPrepared = false;
  if (!std::exchange(isPrepared, true)) {
    Identities::disableFind();
    EndReport::watch();
    // A fork of the program is not recorded, unless it asks for it.
    pthread_atfork(nullptr, nullptr, [] {
      if (std::exchange(isInPart, false))
        get().abandon();
    });
  }
  // Addresses of operations and names may have been reused meanwhile.
  ids.clear();
  BlockKeys::all().record(Recorder::keepsValues());
  InputNames::all().clear();
  forgetContexts();
  threads = 0;
  ++newestPart;
  isInPart = true;
  first().pid = getpid();
  joinPart();
  leader = local.engine;
  return true;
}

void Engine::endPart() {
  if (!std::exchange(isInPart, false))
    return;
  {
    ThreadEngines &others = threadEngines();
    std::lock_guard<std::mutex> lock(others.mutex);
    for (Engine *one : others.all)
      one->attached = false;
  }
  Recorder::finish(0);
}

bool Engine::beginRecording(const RecordSettings &settings) {
  if (!Recorder::start(settings, /*isThreaded=*/false))
    return false;
  record();
  return true;
}

bool Engine::recordStage() {
  Frame *outermost = innermost;
  while (outermost && outermost->parent)
    outermost = outermost->parent;
  Operation *root = outermost ? rootOf(outermost->op()) : nullptr;
  if (root)
    Stages::between(root, *recorder);
  return root;
}

void Engine::jumps(uintptr_t stack) {
  leaveCrash();
  forgetCalls(stack);
  auto isDropped = [=](const void *object) {
    return object && reinterpret_cast<uintptr_t>(object) < stack;
  };
  Engine *engine = local.engine;
  if (!engine || !(engine->isObserving || local.isInside || local.isPassing))
    return;
  InstanceUse::drop(stack);
  if (local.isInside)
    for (Frame *&frame = engine->innermost; isDropped(frame);
         frame = frame->parent)
      if (Recorder *recorder = engine->observer.recorder)
        recorder->left(*frame);
  if (!engine->innermost && engine->legalizations.isTracing()) {
    AgentHeap agentHeap; // a crash may have been in the tool's
    engine->legalizations.leave();
  }
  if (isDropped(local.turn))
    local.turn->end();
}

void Engine::unwinds(Frame &frame) {
  Engine &engine = get();
  Frame *&innermost = engine.innermost;
  if (engine.isWithin()) {
    while (innermost && innermost != &frame &&
           reinterpret_cast<uintptr_t>(innermost) <
               reinterpret_cast<uintptr_t>(&frame))
      innermost = innermost->parent;
    if (innermost == &frame) {
      frame.returned = Returned::Failure;
      if (engine.isObserving)
        engine.exit(frame);
      else
        engine.finish(frame);
    }
  }
  jumps(reinterpret_cast<uintptr_t>(&frame + 1));
}

void Engine::meet(Operation *op) {
  if (LLVM_LIKELY(ids.of(op)))
    return;
  // Other threads may change what is around it.
  if (threads <= 1)
    op = rootOf(op);
  // In the order in which the parser makes them.
  op->walk([&](Operation *each) {
    if (each->getBlock())
      ids.place(each);
    else
      ids.created(each);
  });
}

void Engine::enterOutermost(Frame &frame, Operation *op) {
  if (!observer.recorder || !op)
    return;
  AgentHeap agentHeap;
  if (frame.kind == Kind::Fold)
    return observer.recorder->enterContext(
        Contexts::all().numberOf(op->getContext()));
  meet(op);
  if (Recorder::keepsOutput())
    Stages::reached(op, *observer.recorder);
}

/// Attributes an outermost action of this thread to the action of the first
/// thread, which waits for it.
void Engine::attributeToFirst(const Frame &frame) {
  Frame *around = (leader ? *leader : first()).innermost;
  if (around && frame.changed())
    ++around->changesElsewhere;
}

void Engine::reason(Frame &frame, const Diagnostic &diagnostic) {
  // Usually a single string literal.
  ArrayRef<DiagnosticArgument> parts = diagnostic.getArguments();
  using Kind = DiagnosticArgument::DiagnosticArgumentKind;
  if (parts.size() == 1 && parts[0].getKind() == Kind::String)
    return reason(frame, parts[0].getAsString());
  reason(frame, diagnostic.str());
}

} // namespace adbg
