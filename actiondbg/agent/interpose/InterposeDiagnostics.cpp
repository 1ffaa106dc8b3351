//===- InterposeDiagnostics.cpp - Diagnostics and the verifier -----------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"

using namespace adbg;

/// Whether an operation makes a diagnostic, and is printed for that.
static thread_local bool isMaking = false;

/// Whether it is the printer that verifies now: it does so first, and drops
/// what the verifier says. Nothing else verifies inside a pattern or a fold.
static bool isPrinting(const Engine &engine) {
  const Frame *frame = engine.innermost;
  return isMaking ||
         (frame && (frame->kind == Kind::Pattern || frame->kind == Kind::Fold));
}

/// What is being verified on this thread, or null.
static thread_local Operation *verified = nullptr;

/// Returns the operation of which the verifier says `error`, or null.
static Operation *refusedWithin(Operation *root, StringRef error) {
  // The input is verified before any action.
  Layout::calibrate(root);
  if (!Layout::isDecided())
    return nullptr;
  Operation *outer = std::exchange(verified, root); // in the fork
  Operation *refused = Diagnosed::refused(root, error);
  verified = outer;
  return refused;
}

ADBG_INTERPOSE(LogicalResult, verifyOperation, ADBG_VERIFY, Operation *op,
               bool verifyRecursively) {
  Engine &engine = Engine::get();
  if (engine.follows() && !verified)
    engine.firstError.clear();
  Operation *outer = std::exchange(verified, verified ? verified : op);
  LogicalResult result = next(op, verifyRecursively);
  verified = outer;
  if (succeeded(result) || outer || isPrinting(engine))
    return result;
  Turn turn(engine, Turn::For::Event);
  if (!turn || !engine.breakpoints.catches(CatchKind::Verify))
    return result;
  std::optional<Culprit> culprit;
  if (engine.lastPass.ordinal)
    culprit = engine.lastPass;
  AgentHeap agentHeap;
  Operation *about = engine.firstErrorOn.get();
  if (!about)
    about = refusedWithin(op, engine.firstError);
  engine.caught(
      {CatchKind::Verify,
       "the verifier failed on " + op->getName().getStringRef().str() +
           (engine.firstError.empty() ? "" : ": ") + engine.firstError},
      about, culprit);
  return result;
}

static bool catchesDiagnostics(const Engine &engine) {
  return engine.breakpoints.catches(CatchKind::Diagnostic);
}

static void noteDiagnostic(const Diagnostic &diagnostic) {
  Engine &engine = Engine::get();
  Turn turn(engine, Turn::For::Event);
  if (!turn || (verified && isPrinting(engine)))
    return;
  AgentHeap agentHeap;
  if (!facts::diagnostic.holds([&] { return diagnostic.check(); }))
    return;
  if (engine.legalizations.isTracing() && !verified)
    engine.legalizations.diagnosed(diagnostic);
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  Operation *about = nullptr;
  if (!engine.isObserving && (isError || catchesDiagnostics(engine)))
    about = engine.diagnosedBy(diagnostic);
  if (isError && !about && verified && catchesDiagnostics(engine))
    about = refusedWithin(verified, diagnostic.str());
  if (isError) {
    engine.observer.diagnosed();
    if (!engine.isObserving)
      engine.failsWith(diagnostic.str(), about);
    if (engine.isObserving && engine.hasFrames())
      engine.reason(*engine.innermost, diagnostic);
    if (engine.breakpoints.catches(CatchKind::Verify) &&
        engine.firstError.empty()) {
      engine.firstError = diagnostic.str();
      engine.firstErrorOn = OperationHandle(about);
    }
  }
  if (catchesDiagnostics(engine))
    engine.caught({CatchKind::Diagnostic, diagnostic.str()}, about);
}

// A diagnostic is made in memory of the caller, which has room for the tool's
// class only: the result of these functions is never copied.
/// Notes which operation makes a diagnostic.
template <typename Next>
static tool::InFlight noteMade(Next next, Operation *op, const void *message) {
  bool outer = std::exchange(isMaking, true);
  tool::InFlight made = next(op, message);
  isMaking = outer;
  Engine &engine = Engine::get();
  if (engine.follows() && !engine.isObserving)
    engine.diagnosed.made(op);
  return made;
}

ADBG_INTERPOSE_BY(noteMade, tool::InFlight, makeError, ADBG_EMIT_ERROR,
                  Operation *, const void *)
ADBG_INTERPOSE_BY(noteMade, tool::InFlight, makeOpError, ADBG_EMIT_OP_ERROR,
                  Operation *, const void *)
ADBG_INTERPOSE_BY(noteMade, tool::InFlight, makeWarning, ADBG_EMIT_WARNING,
                  Operation *, const void *)
ADBG_INTERPOSE_BY(noteMade, tool::InFlight, makeRemark, ADBG_EMIT_REMARK,
                  Operation *, const void *)

// report() calls emit(), through the function below or directly.
static thread_local bool isReporting = false;

ADBG_INTERPOSE(void, reportDiagnostic, ADBG_REPORT, InFlightDiagnostic *self) {
  if (self->owner && self->impl) {
    noteDiagnostic(*self->impl);
    if (ScopedDiagnosticHandler::handle(*self->impl))
      self->owner = nullptr;
  }
  bool outer = std::exchange(isReporting, true);
  next(self);
  isReporting = outer;
}

ADBG_INTERPOSE(void, emitDiagnostic, ADBG_EMIT, DiagnosticEngine *self,
               Diagnostic &&diagnostic) {
  if (!isReporting)
    noteDiagnostic(diagnostic);
  if (!ScopedDiagnosticHandler::handle(diagnostic))
    next(self, std::move(diagnostic));
}
