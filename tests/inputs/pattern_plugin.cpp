// A plug-in for mlir-opt with patterns that those of MLIR are not like.
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

// Patterns without a debug name; their benefits tell them apart.
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

// A pattern that modifies operations and tells nobody.
static LogicalResult touch(Cast op, PatternRewriter &) {
  if (!op->removeAttr("start"))
    return failure();
  Operation *near[] = {op.getOperand(0).getDefiningOp(), *op->user_begin(),
                       op->getParentOp(), op->getPrevNode(), op->getNextNode()};
  for (Operation *one : near)
    one->setAttr("touched", UnitAttr::get(op->getContext()));
  return success();
}

namespace {
struct Touch : PassWrapper<Touch, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Touch)
  StringRef getArgument() const override { return "touch"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(touch);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace

// A pattern that fails in several places without a reason.
namespace {
struct Guarded : OpRewritePattern<Cast> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Cast op, PatternRewriter &) const override {
    if (op.getNumOperands() != 1)
      return failure(); // not one operand
    if (!op->hasAttr("open"))
      return failure(); // not open
    Operation *definer = op.getOperand(0).getDefiningOp();
    if (!definer)
      return failure(); // a block argument
    op->removeAttr("open");
    return success();
  }
};

struct Guards : PassWrapper<Guards, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Guards)
  StringRef getArgument() const override { return "guards"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Guarded>(&getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "patterns", "1", [] {
            PassRegistration<Names>();
            PassRegistration<Touch>();
            PassRegistration<Guards>();
          }};
}
