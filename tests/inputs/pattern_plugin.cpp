// A plug-in for mlir-opt with patterns that those of MLIR are not like.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Config/llvm-config.h"

#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

// Patterns that break a rule of rewriting, each beside one that keeps it: the
// attribute "rule" of a cast names the pattern, which applies once or more
// often.
namespace {
struct Ruled : RewritePattern {
  using Apply = LogicalResult (*)(Cast, PatternRewriter &);
  Ruled(MLIRContext *context, StringRef name, Apply apply, unsigned times,
        StringRef rule)
      : RewritePattern(Cast::getOperationName(), 1, context), rule(rule),
        apply(apply), left(times) {
    setDebugName(name);
  }
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto wanted = op->getAttrOfType<StringAttr>("rule");
    if (!wanted || wanted.getValue() != rule || !left)
      return failure();
    --left;
    return apply(cast<Cast>(op), rewriter);
  }
  StringRef rule;
  Apply apply;
  mutable unsigned left;
};
} // namespace

static void mark(Operation *op) {
  op->setAttr("marked", UnitAttr::get(op->getContext()));
}

static Operation *copied(OpBuilder &builder, Cast op) {
  return Cast::create(builder, op.getLoc(), op->getResultTypes(),
                      op.getOperands());
}

static void addRules(RewritePatternSet &patterns) {
  auto add = [&](StringRef name, Ruled::Apply apply, unsigned times = 1,
                 StringRef rule = "") {
    patterns.add(std::make_unique<Ruled>(patterns.getContext(), name, apply,
                                         times, rule.empty() ? name : rule));
  };
  add("failed-after-change", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] { mark(op); });
    return failure();
  });
  add("failed-after-undo", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] { mark(op); });
    rewriter.modifyOpInPlace(op, [&] { op->removeAttr("marked"); });
    rewriter.eraseOp(copied(rewriter, op));
    return failure();
  });
  add("nothing", [](Cast, PatternRewriter &) { return success(); });
  add("location", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(
        op, [&] { op->setLoc(UnknownLoc::get(op->getContext())); });
    return success();
  });
  add("changed-elsewhere", [](Cast op, PatternRewriter &rewriter) {
    Operation *other = op->getParentOp()->getNextNode();
    rewriter.modifyOpInPlace(other, [&] { mark(other); });
    return success();
  });
  add("modified-silently", [](Cast op, PatternRewriter &) {
    mark(op);
    return success();
  });
  add("neighbour-modified-silently", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] { mark(op); });
    mark(op->getPrevNode());
    return success();
  });
  add("modified", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] { mark(op); });
    return success();
  });
  add("erased-silently", [](Cast op, PatternRewriter &) {
    op->getNextNode()->erase();
    return success();
  });
  add("erased", [](Cast op, PatternRewriter &rewriter) {
    rewriter.eraseOp(op->getNextNode());
    return success();
  });
  add("moved-silently", [](Cast op, PatternRewriter &) {
    op->getNextNode()->moveBefore(op);
    return success();
  });
  add("moved", [](Cast op, PatternRewriter &rewriter) {
    rewriter.moveOpBefore(op->getNextNode(), op);
    return success();
  });
  add("inserted-silently", [](Cast op, PatternRewriter &) {
    OpBuilder builder(op);
    mark(copied(builder, op));
    return success();
  });
  add("inserted", [](Cast op, PatternRewriter &rewriter) {
    mark(copied(rewriter, op));
    return success();
  });
  add("uses-replaced-silently", [](Cast op, PatternRewriter &rewriter) {
    op.getResult(0).replaceAllUsesWith(copied(rewriter, op)->getResult(0));
    return success();
  });
  add("replaced", [](Cast op, PatternRewriter &rewriter) {
    rewriter.replaceOp(op, copied(rewriter, op));
    return success();
  });
  // The driver does not revisit what it is not told of: one try an iteration.
  auto count = [](Cast op, PatternRewriter &) {
    auto before = op->getAttrOfType<IntegerAttr>("count");
    int64_t value = before ? before.getInt() + 1 : 0;
    op->setAttr("count", Builder(op->getContext()).getI64IntegerAttr(value));
    return success();
  };
  add("endless", count, 1000);
  add("long", count, 8);
  add("location-lost", [](Cast op, PatternRewriter &rewriter) {
    Location unknown = UnknownLoc::get(op->getContext());
    mark(Cast::create(rewriter, unknown, op->getResultTypes(),
                      op.getOperands()));
    return success();
  });
  add("location-of-source", [](Cast op, PatternRewriter &rewriter) {
    rewriter.clone(*op->getPrevNode());
    return success();
  });
  add("constant-without-location", [](Cast op, PatternRewriter &rewriter) {
    OperationState state(UnknownLoc::get(op->getContext()), "arith.constant");
    state.addTypes(rewriter.getI32Type());
    state.addAttribute("value", rewriter.getI32IntegerAttr(7));
    rewriter.create(state);
    return success();
  });
  // The builder of an operation fills its regions.
  add("location-in-region", [](Cast op, PatternRewriter &rewriter) {
    auto around = ModuleOp::create(rewriter, op.getLoc());
    rewriter.setInsertionPointToStart(around.getBody());
    ModuleOp::create(rewriter, UnknownLoc::get(op->getContext()));
    return success();
  });
  // A folder takes the location of a constant away.
  add(
      "location-gone",
      [](Cast op, PatternRewriter &rewriter) {
        if (op->hasAttr("marked"))
          copied(rewriter, op);
        else
          rewriter.modifyOpInPlace(op, [&] {
            op->setLoc(UnknownLoc::get(op->getContext()));
            mark(op);
          });
        return success();
      },
      2);
  add("unstable", [](Cast op, PatternRewriter &rewriter) {
    auto page = reinterpret_cast<uintptr_t>(op.getOperation()) >> 12;
    rewriter.modifyOpInPlace(
        op, [&] { op->setAttr("page", rewriter.getI64IntegerAttr(page)); });
    return success();
  });
  // Whether a new object has the address of the last one that was freed.
  add("reused", [](Cast op, PatternRewriter &rewriter) {
    void *(*volatile allocate)(size_t) = malloc;
    void (*volatile release)(void *) = free;
    void *first = allocate(600), *second = allocate(600);
    auto last = reinterpret_cast<uintptr_t>(second);
    release(first);
    release(second);
    void *third = allocate(600);
    bool isReused = reinterpret_cast<uintptr_t>(third) == last;
    release(third);
    rewriter.modifyOpInPlace(
        op, [&] { op->setAttr("reused", rewriter.getBoolAttr(isReused)); });
    return success();
  });
  // Of these one applies, the first that is tried.
  add("one-order", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(
        op, [&] { op->setAttr("rule", rewriter.getStringAttr("a")); });
    return success();
  });
  add(
      "other-order",
      [](Cast op, PatternRewriter &rewriter) {
        rewriter.modifyOpInPlace(
            op, [&] { op->setAttr("rule", rewriter.getStringAttr("b")); });
        return success();
      },
      1, "one-order");
  auto settle = [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(
        op, [&] { op->setAttr("rule", rewriter.getStringAttr("a")); });
    return success();
  };
  add("any-order", settle);
  add("any-other-order", settle, 1, "any-order");
  add("ends", settle);
  add(
      "never-ends",
      [](Cast, PatternRewriter &) -> LogicalResult {
        for (;;)
          std::this_thread::sleep_for(std::chrono::seconds(1));
      },
      1, "ends");
  add("reads-erased", [](Cast op, PatternRewriter &rewriter) {
    Operation *erased = op->getNextNode();
    rewriter.eraseOp(erased);
    auto read = reinterpret_cast<volatile uintptr_t *>(erased);
    rewriter.modifyOpInPlace(op, [&] {
      op->setAttr("read",
                  rewriter.getBoolAttr(read[4] == ~uintptr_t(0) / 0xff * 0xa5));
    });
    return success();
  });
  add("crash", [](Cast, PatternRewriter &) -> LogicalResult { abort(); });
  auto moveToEnd = [](Cast op, PatternRewriter &rewriter) {
    rewriter.moveOpBefore(op, op->getBlock()->getTerminator());
    return success();
  };
  add("invalid", moveToEnd);
  add("invalid-next", moveToEnd);
  add("invalid-before", [](Cast op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] { mark(op); });
    return success();
  });
  add("invalid-elsewhere", [](Cast op, PatternRewriter &rewriter) {
    Cast other = *op->getParentOp()
                      ->getNextNode()
                      ->getRegion(0)
                      .front()
                      .getOps<Cast>()
                      .begin();
    rewriter.moveOpBefore(other, other->getBlock()->getTerminator());
    rewriter.modifyOpInPlace(other, [&] {
      other->setAttr("rule", rewriter.getStringAttr("modified"));
    });
    return success();
  });
  // What is outside of the function of the operation.
  add("module-modified", [](Cast op, PatternRewriter &rewriter) {
    auto around = op->getParentOfType<ModuleOp>();
    rewriter.modifyOpInPlace(
        around, [&] { around->setAttr("test.told", op->getAttr("rule")); });
    return success();
  });
  add("module-modified-silently", [](Cast op, PatternRewriter &) {
    op->getParentOfType<ModuleOp>()->setAttr("test.silent",
                                             op->getAttr("rule"));
    return success();
  });
  add("failed-after-insertion", [](Cast op, PatternRewriter &rewriter) {
    rewriter.setInsertionPointToStart(
        op->getParentOfType<ModuleOp>().getBody());
    ModuleOp::create(rewriter, op.getLoc());
    return failure();
  });
}

namespace {
struct Rules : PassWrapper<Rules, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Rules)
  StringRef getArgument() const override { return "rules"; }
  void runOnOperation() override {
    getOperation()->walk([](Cast op) {
      auto rule = op->getAttrOfType<StringAttr>("rule");
      if (rule && rule.getValue() == "invalid-before")
        op->moveBefore(op->getBlock()->getTerminator());
    });
    RewritePatternSet patterns(&getContext());
    addRules(patterns);
    (void)applyPatternsGreedily(
        getOperation(), std::move(patterns),
        GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false));
    // Repairs what is invalid, so that the pass does not fail.
    getOperation()->walk([](Cast op) {
      if (op->getAttrOfType<StringAttr>("rule"))
        for (Operation *user : op->getUsers())
          if (user->isBeforeInBlock(op))
            op->moveBefore(user);
    });
  }
};
} // namespace

// A pass after which some functions are invalid, and the others are valid.
namespace {
struct Invalidates : PassWrapper<Invalidates, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Invalidates)
  Invalidates() = default;
  Invalidates(const Invalidates &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "invalidates"; }
  void runOnOperation() override {
    SmallVector<StringRef> chosen;
    StringRef(names).split(chosen, ',');
    for (Operation &function : getOperation()->getRegion(0).front()) {
      auto name = function.getAttrOfType<StringAttr>("sym_name");
      Block &body = function.getRegion(0).front();
      bool isChosen = name && llvm::is_contained(chosen, name.getValue());
      for (Operation &op : llvm::make_early_inc_range(body))
        if (op.hasAttr("rule")) // the first cast, which others use
          op.moveBefore(isChosen ? body.getTerminator() : &body.front());
    }
  }
  Option<std::string> names{*this, "functions", llvm::cl::init("")};
};
} // namespace

#if LLVM_VERSION_MAJOR >= 22 // before, only types are converted
// A conversion that fails without a reason; of i32 its converter asks for the
// values, whose types it converts by what is around them.
namespace {
struct Unconverted : OpConversionPattern<Cast> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(Cast, OpAdaptor,
                                ConversionPatternRewriter &) const override {
    return failure();
  }
};

struct ByValue : PassWrapper<ByValue, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ByValue)
  StringRef getArgument() const override { return "by-value"; }
  void runOnOperation() override {
    TypeConverter converter;
    converter.addConversion([](Value value) -> std::optional<Type> {
      if (value.getType().isInteger(32))
        return IntegerType::get(value.getContext(), 64);
      return std::nullopt;
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<Unconverted>(converter, &getContext());
    ConversionTarget target(getContext());
    target.addDynamicallyLegalOp<Cast>(
        [](Cast op) { return !op->hasAttr("illegal"); });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
#endif

// A pass that forks, and whose child ends.
namespace {
struct ForksOnce : PassWrapper<ForksOnce, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForksOnce)
  StringRef getArgument() const override { return "forks-once"; }
  void runOnOperation() override {
    if (pid_t child = fork())
      waitpid(child, nullptr, 0);
    else
      std::exit(0);
  }
};
} // namespace

// A pass that ends the tool, as a fatal error of LLVM's libraries does.
namespace {
struct Exits : PassWrapper<Exits, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Exits)
  StringRef getArgument() const override { return "exits"; }
  void runOnOperation() override { std::exit(3); }
};
} // namespace

// A pass that crashes, and handlers of the tool: one recovers, as language
// runtimes do, which use such signals, one ends the tool, and one returns, as
// LLVM 19's does: a signal that was raised is over then, but not an abort.
namespace {
sigjmp_buf recovered;

struct Recovers : PassWrapper<Recovers, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Recovers)
  StringRef getArgument() const override { return "recovers"; }
  void runOnOperation() override {
    if (std::getenv("ABORTS"))
      std::abort();
    if (!sigsetjmp(recovered, 1))
      std::raise(SIGSEGV);
  }
};
} // namespace

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  if (std::getenv("RECOVERS"))
    std::signal(SIGSEGV, [](int) { siglongjmp(recovered, 1); });
  if (std::getenv("ENDS"))
    std::signal(SIGSEGV, [](int) { std::_Exit(3); });
  if (std::getenv("RETURNS"))
    for (int number : {SIGSEGV, SIGABRT})
      std::signal(number, [](int) {});
  return {MLIR_PLUGIN_API_VERSION, "patterns", "1", [] {
            PassRegistration<Names>();
            PassRegistration<Touch>();
            PassRegistration<Guards>();
            PassRegistration<Rules>();
            PassRegistration<Invalidates>();
            PassRegistration<Exits>();
            PassRegistration<Recovers>();
            PassRegistration<ForksOnce>();
#if LLVM_VERSION_MAJOR >= 22
            PassRegistration<ByValue>();
#endif
          }};
}
