//===- InterposeSchedules.cpp - Steps of schedules ------------------------===//
//
// A schedule of the transform dialect is interpreted operation by operation.
// Each interpretation is an action here; upstream has none for it. The classes
// of the interpreter are passed on unread: MLIR may lack the dialect, and the
// agent that knows no headers follows schedules, too.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"

using namespace adbg;

// Not in an anonymous namespace: functions that take these have to be exported.
namespace adbg {
/// As transform::TransformOpInterface.
struct StepOperation {
  Operation *op;
  const void *interface;
};
/// As ResultRange.
struct StepResults {
  const void *first;
  ptrdiff_t count;
};

/// The begin of a DiagnosedSilenceableFailure. Like that, it is returned in the
/// memory of the caller, which reserves its true size.
class StepOutcome {
public:
  /// `make` constructs it in the memory that it is given.
  explicit StepOutcome(function_ref<void(void *)> make) { make(this); }
  StepOutcome(const StepOutcome &) = delete;
  ~StepOutcome() {}

  // A SmallVector of the diagnostics of a silenceable failure.
  void *diagnostics;
  uint32_t count, capacity;
};
} // namespace adbg

using StepState = void;

// Each is null where MLIR lacks it.
void makeResults(void *results,
                 unsigned count) __asm__(ADBG_MAKE_TRANSFORM_RESULTS)
    __attribute__((weak));
void setToEmpty(void *results,
                StepOperation step) __asm__(ADBG_EMPTY_TRANSFORM_RESULTS)
    __attribute__((weak));
LogicalResult mapResults(StepState *state, const void *results,
                         StepResults range) __asm__(ADBG_MAP_TRANSFORM_RESULTS)
    __attribute__((weak));
/// Succeeds and does nothing if there is no operation.
StepOutcome matchNothing(void *self, std::optional<Operation *> op,
                         void *results,
                         StepState *state) __asm__(ADBG_MATCH_NOTHING)
    __attribute__((weak));

static void succeed(void *outcome) {
  new (outcome)
      StepOutcome(matchNothing(nullptr, std::nullopt, nullptr, nullptr));
}

namespace {
/// Memory for an object of the interpreter of unknown size.
struct alignas(16) Memory {
  char bytes[4096];
};
} // namespace

/// Returns the offset of the flag in an outcome that is true for a success, 0
/// if it is not found.
static size_t findSuccess() {
  Memory memory;
  memset(memory.bytes, 0xff, sizeof(memory.bytes));
  succeed(memory.bytes);
  // The memory of the first diagnostic comes before it, and is not written.
  for (size_t at = sizeof(StepOutcome); at < sizeof(memory.bytes); ++at)
    if (memory.bytes[at] != char(0xff))
      return memory.bytes[at] == 1 ? at : 0;
  return 0;
}

static size_t successOffset() {
  static ADBG_OF_INSTANCE bool isKnown = false;
  static ADBG_OF_INSTANCE size_t offset = 0;
  if (std::exchange(isKnown, true) || !makeResults || !setToEmpty ||
      !mapResults || !matchNothing)
    return offset;
  auto check = []() -> std::string {
    return findSuccess() ? "" : "it was not found";
  };
  if (!facts::schedules.holds(check))
    return offset;
  return offset = findSuccess();
}

/// Succeeds in the place of a step: its results are as if it had found nothing.
static void skipStep(void *outcome, StepState *state, StepOperation step) {
  succeed(outcome);
  unsigned count = step.op->getNumResults();
  if (!count)
    return;
  Memory results;
  makeResults(results.bytes, count);
  setToEmpty(results.bytes, step);
  (void)mapResults(state, results.bytes,
                   {step.op->getResult(0).getAsOpaquePointer(), count});
}

/// Whether it is a whole schedule, not an operation in one. A preloaded agent
/// is not called for these.
static bool isSchedule(Operation *op) {
  Operation *parent = op->getParentOp();
  return !parent || !parent->getName().getStringRef().starts_with("transform.");
}

static bool followsStep(Operation *op) {
  Engine &engine = Engine::get();
  return Layout::isDecided() && engine.isAttached() && !engine.isSilentHere() &&
         !isSchedule(op) && successOffset();
}

ADBG_INTERPOSE(StepOutcome, applyTransform, ADBG_APPLY_TRANSFORM,
               StepState *self, StepOperation step) {
  if (!followsStep(step.op))
    return next(self, step);
  return StepOutcome([&](void *outcome) {
    IRUnit unit(step.op);
    Frame frame(ArrayRef<IRUnit>(unit), Kind::Step);
    frame.contextNumber = Contexts::all().numberOf(step.op->getContext());
    bool isRun = false;
    runAction(frame, [&] {
      isRun = true;
      auto *made = new (outcome) StepOutcome(next(self, step));
      bool isSuccess = static_cast<char *>(outcome)[successOffset()];
      frame.returned =
          isSuccess && !made->count ? Returned::Success : Returned::Failure;
    });
    if (!isRun)
      skipStep(outcome, self, step);
  });
}
