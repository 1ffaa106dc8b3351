//===- InterposeConvergence.cpp - Greedy drivers that do not converge -----===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"

#include <utility>

using namespace adbg;

// Not in an anonymous namespace: functions that take it have to be exported.
namespace adbg {
/// The driver's configuration, whose size differs between versions, on the
/// stack of the caller. What is behind it is copied, too.
struct PassedConfig {
  char bytes[256];
};
} // namespace adbg

// The driver takes a region, patterns, a configuration and a pointer. Its
// arguments are passed on as they came: in registers, where aarch64 has the
// address of a configuration, and on the stack.
#ifdef __x86_64__
#define ADBG_PASSED                                                            \
  void *region, void *patterns, void *third, void *fourth, void *fifth,        \
      void *sixth, PassedConfig config
#define ADBG_PASS region, patterns, third, fourth, fifth, sixth, config
#else
#define ADBG_PASSED void *region, void *patterns, void *third, void *fourth
#define ADBG_PASS region, patterns, third, fourth
#endif

/// Runs a driver, and reports that it did not converge.
template <typename Run> static LogicalResult watched(Run run) {
  unsigned &iterations = Engine::iterations();
  unsigned outer = std::exchange(iterations, 0);
  LogicalResult result = run();
  unsigned own = std::exchange(iterations, outer);
  if (succeeded(result))
    return result;
  Engine &engine = Engine::get();
  Turn turn(engine, Turn::For::Event);
  if (turn && engine.breakpoints.catches(CatchKind::Nonconvergence))
    engine.caught(CatchKind::Nonconvergence,
                  "the greedy driver did not converge in " +
                      std::to_string(own) +
                      (own == 1 ? " iteration" : " iterations"));
  return result;
}

extern "C++" {

ADBG_INTERPOSE(LogicalResult, rewriteRegion, ADBG_GREEDY_REGION, ADBG_PASSED) {
  static Original<decltype(rewriteRegion)> next(ADBG_GREEDY_REGION);
  return watched([&] { return next(ADBG_PASS); });
}

ADBG_INTERPOSE(LogicalResult, rewriteRegionBefore20, ADBG_GREEDY_REGION_TO_19,
               ADBG_PASSED) {
  static Original<decltype(rewriteRegionBefore20)> next(
      ADBG_GREEDY_REGION_TO_19);
  return watched([&] { return next(ADBG_PASS); });
}

} // extern "C++"

#undef ADBG_PASSED
#undef ADBG_PASS
