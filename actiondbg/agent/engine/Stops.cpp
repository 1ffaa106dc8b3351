//===- Stops.cpp - Standing still, and what is caught
//-----------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/RequestTable.h"
#include "support/Traits.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

using namespace mlir;
using llvm::StringRef;

namespace adbg {

void Engine::stop(Frame &frame, Notice notice) {
  selected = frame.kind == Kind::None ? nullptr : &frame;
  resetCursor();
  connection.notify("stopped", describeStop(frame, notice, inside));
  resumption = Resumption();
  standing = &frame;
  checkpoints.arrived();
  unsigned version = breakpointsVersion;
  serve();
  standing = nullptr;
  aimAgain(frame);
  if (version != breakpointsVersion && !frame.over)
    hitLater(frame);
  resumption.depth = frame.depth;
  resumption.wasOver = frame.over;
  if (resumption.control == Control::Skip && !frame.over && !inside)
    frame.skipped = true;
  // An action that is skipped as it was before, unless it is answered
  // otherwise.
  if (resumption.control == Control::Apply && !frame.over && !inside)
    frame.skipped = false;
}

/// What was gone to before is no more; the end of an action that has begun may
/// be what is gone to now.
void Engine::aimAgain(Frame &frame) {
  bool isForEnds = resumption.until && resumption.after;
  for (Frame *around = &frame; around; around = around->parent)
    around->untilMatches = isForEnds && !around->over &&
                           around->kind != Kind::None &&
                           resumption.until->matches(*around);
}

void Engine::serve() {
  int64_t since = Observer::now();
  serving = true;
  resumed = false;
  while (!resumed) {
    std::string line = connection.receive();
    if (std::optional<llvm::json::Value> reply = answerLine(*this, line))
      connection.send(*reply);
  }
  serving = false;
  selected = nullptr;
  cursor = IRUnit();
  observer.served += Observer::now() - since;
}

//===----------------------------------------------------------------------===//
// Inside of an action
//===----------------------------------------------------------------------===//

/// Stands for the action where there is none.
static Frame &noFrame() {
  static Frame *none = new Frame;
  none->over = true;
  return *none;
}

void Engine::caught(CatchKind kind, StringRef text,
                    std::optional<Culprit> culprit) {
  Frame &frame = innermost ? *innermost : noFrame();
  Notice notice;
  notice.reason = "catch";
  notice.message = text.str();
  notice.culprit = std::move(culprit);
  if (!notice.culprit && innermost)
    notice.culprit = {innermost->ordinal, innermost->tag().str(),
                      innermost->name(), false};
  inside = true;
  for (Breakpoint &one : breakpoints)
    if (one.enabled && one.catches && one.catches->kind == kind &&
        (!one.catches->glob || one.catches->glob->matchesNow(text)))
      hit(one, frame, notice);
  if (!notice.hit.empty() && passes())
    pass(/*isInside=*/true);
  else if (!notice.hit.empty())
    stop(frame, std::move(notice));
  inside = false;
}

void Engine::stopInside() {
  // What arrived is obeyed by this stop.
  while (connection.poll()) {
  }
  Frame &frame = innermost ? *innermost : noFrame();
  Notice notice;
  notice.reason = "interrupt";
  notice.message = "it has reached no other action since";
  inside = true;
  stop(frame, std::move(notice));
  inside = false;
}

void Engine::checkConvergence(Frame &frame) {
  bool isRewrite = frame.kind == Kind::Pattern || frame.kind == Kind::Fold;
  if (!catches(CatchKind::Nonconvergence) || !isRewrite || !frame.changed())
    return;
  Frame *driver = frame.parent;
  while (driver && !driver->isGreedyIteration() && driver->kind != Kind::Pass)
    driver = driver->parent;
  // A conversion rewrites each operation once, and what it made.
  if (!driver || frame.conversion)
    return;
  uint64_t rewrites = ++driver->rewrites;
  if (rewrites < 1024 || (rewrites & (rewrites - 1)) != 0)
    return;
  uint64_t operations = 0;
  if (Operation *op = driver->op())
    op->walk([&](Operation *) { ++operations; });
  // Few are rewritten more than some times until they settle.
  if (rewrites < 32 * operations)
    return;
  caught(CatchKind::Nonconvergence,
         "the greedy driver does not settle: " + std::to_string(rewrites) +
             " rewrites, and there are only " + std::to_string(operations) +
             " operations");
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// In the middle of a rewrite, or of a conversion, IR need not be valid.
static bool isInTheMiddle(const Frame &frame) {
  for (const Frame *outer = frame.parent; outer; outer = outer->parent)
    if (outer->kind == Kind::Pattern || outer->isConversion())
      return true;
  return false;
}

static std::string whyInvalid(Operation *op) {
  std::string why;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!operand)
        why = "an operand of " + inner->getName().getStringRef().str() +
              " is null";
  });
  if (!why.empty())
    return why;
  ScopedDiagnosticHandler listen(op->getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty())
      why = diagnostic.str();
    return success();
  });
  if (succeeded(verify(op)))
    return "";
  return why.empty() ? "the verifier fails" : why;
}

void Engine::verifyAfter(Frame &frame, Notice &notice) {
  const Frame *about = frame.over ? &frame : frame.parent;
  if (!about || isInTheMiddle(*about) || (!frame.over && isInTheMiddle(frame)))
    return;
  Operation *op = nullptr;
  for (const Frame *f = about; f && !op; f = f->parent)
    op = f->op();
  while (op && op->getParentOp() && !isIsolated(op))
    op = op->getParentOp();
  if (!op)
    return;
  // What the verifier does and says is nobody's doing.
  serving = true;
  std::string why = whyInvalid(op);
  serving = false;
  bool wasBroken = std::exchange(isBroken, !why.empty());
  if (!isBroken || wasBroken)
    return;
  notice.reason = "verify";
  notice.message = "the IR is not valid any more: " + why;
  notice.culprit = observer.culpritNow();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Engine::sendExit() {
  if (!attached || getpid() != pid || !connection.isOpen())
    return;
  if (log)
    log->flush();
  if (plan)
    plan->finish(innermost, ordinal);
  connection.notify("exited",
                    llvm::json::Object{{"actions", int64_t(ordinal)},
                                       {"status", exitStatus & 0xff},
                                       {"event", int64_t(event)},
                                       {"written", describeWritten()},
                                       {"hits", describeHits(breakpoints)}});
}

int64_t Engine::runTime() const { return observer.ranFor(); }

void Engine::go(Resumption next) {
  resumption = std::move(next);
  resumed = true;
  isFrozen = false;
  passed.clear();
  if (resumption.event)
    checkpoints.approach(event, resumption.event);
}

void Engine::pass(bool isInside) {
  insideHits += isInside;
  passed.push_back({event, isInside ? insideHits : 0});
  if (passed.size() > resumption.keep)
    passed.pop_front();
}

llvm::json::Array Engine::describePassed() const {
  llvm::json::Array all;
  for (const Passed &one : passed)
    all.push_back(llvm::json::Object{{"event", int64_t(one.event)},
                                     {"during", int64_t(one.during)}});
  return all;
}

void Engine::abandon() {
  attached = false;
  RecordFile::abandon();
  UpstreamLog::abandon();
  connection.abandon();
}

void Engine::rejoin(const std::string &socket) {
  pid = getpid();
  connection = Connection();
  connection.open(socket);
  attached = true;
  // What its buffer holds is written by the process that was forked.
  (void)log.release();
  connection.notify("hello", hello(*this));
}

/// Runs `function` on a stack of its own: that of a signal handler is too small
/// to print IR.
static void onBigStack(void (*function)()) {
  size_t size = 64 << 20;
  void *stack = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED)
    return;
  static ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, function, 0);
  swapcontext(&here, &there);
}

/// What a failed assertion said: the C library keeps it for debuggers.
static std::string lastWords() {
  struct AbortMessage {
    unsigned size;
    char text[1];
  };
  std::string words = "the tool is about to die";
  auto **message = static_cast<AbortMessage **>(
      dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
  if (message && *message)
    words += ": " + StringRef((*message)->text).rtrim().str();
  return words;
}

void Engine::sendCrash() {
  if (getpid() != pid || !connection.isOpen())
    return;
  // A crash while a request is served is not the tool's doing.
  if (catches(CatchKind::Crash) && !serving)
    onBigStack([] { Engine::get().caught(CatchKind::Crash, lastWords()); });
  if (log)
    log->flush();
  if (plan)
    plan->finish(innermost, ordinal);
  llvm::json::Object crash = describeCrash(innermost);
  crash["signal"] = int64_t(crashSignal);
  crash["written"] = describeWritten();
  crash["event"] = int64_t(event);
  crash["hits"] = describeHits(breakpoints);
  connection.notify("crashed", std::move(crash));
}

} // namespace adbg
