//===- foo-opt.cpp - A compiler with a pass and a pattern of its own ------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
/// x * 2 is x + x.
struct DoubleToAdd : OpRewritePattern<arith::MulIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulIOp op,
                                PatternRewriter &rewriter) const override {
    auto factor = op.getRhs().getDefiningOp<arith::ConstantIntOp>();
    if (!factor || factor.value() != 2)
      return rewriter.notifyMatchFailure(op, "the factor is not two");
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};

struct Strength : PassWrapper<Strength, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Strength)
  StringRef getArgument() const final { return "foo-strength"; }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<DoubleToAdd>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct Trap : PassWrapper<Trap, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Trap)
  StringRef getArgument() const final { return "foo-trap"; }
  void runOnOperation() final { __builtin_trap(); }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect>();
  PassRegistration<Strength>();
  PassRegistration<Trap>();
  registerTransformsPasses();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "Foo's optimizer\n", registry));
}
