// A plug-in for mlir-opt: a pass whose patterns have no debug name. Their benefits tell them apart.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using Cast = UnrealizedConversionCastOp;

static LogicalResult keepCast(Cast, PatternRewriter &) { return failure(); }

template <typename T> static LogicalResult keepAs(Cast, PatternRewriter &) {
  return failure();
}

namespace rules {
namespace {
struct Quiet : OpRewritePattern<Cast> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Cast, PatternRewriter &) const override {
    return failure();
  }
};
} // namespace

void populate(RewritePatternSet &patterns) {
  patterns.add(keepCast, 9);
  patterns.add(keepAs<int>, 8);
  patterns.add(+[](Cast, PatternRewriter &) { return failure(); }, 7);
  patterns.add(std::make_unique<Quiet>(patterns.getContext(), 6));
}
} // namespace rules

namespace {
struct Names : PassWrapper<Names, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Names)
  StringRef getArgument() const override { return "names"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    rules::populate(patterns);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "names", "1",
          [] { PassRegistration<Names>(); }};
}
