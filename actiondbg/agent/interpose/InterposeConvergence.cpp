//===- InterposeConvergence.cpp - Greedy drivers that do not converge -----===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace adbg;

extern "C++" {

ADBG_INTERPOSE(LogicalResult, rewriteRegion, ADBG_GREEDY_REGION, Region &region,
               const FrozenRewritePatternSet &patterns,
               GreedyRewriteConfig config, bool *changed) {
  static Original<LogicalResult(Region &, const FrozenRewritePatternSet &,
                                GreedyRewriteConfig, bool *)>
      next(ADBG_GREEDY_REGION);
  int64_t most = maxIterationsOf(config);
  LogicalResult result = next(region, patterns, config, changed);
  if (succeeded(result))
    return result;
  Engine &engine = Engine::get();
  Turn turn(engine, Turn::For::Event);
  if (turn && engine.breakpoints.catches(CatchKind::Nonconvergence))
    engine.caught(CatchKind::Nonconvergence,
                  "the greedy driver did not converge in " +
                      std::to_string(most) + " iterations");
  return result;
}

} // extern "C++"
