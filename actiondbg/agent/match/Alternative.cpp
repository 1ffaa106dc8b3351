#include "match/Alternative.h"
#include "engine/Engine.h"
#include "support/Pipelines.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

// The value above it means that a pattern cannot match.
static constexpr unsigned short highestBenefit = 0xfffe;

BenefitChange BenefitChange::parse(Fields &fields) {
  BenefitChange change;
  std::optional<Glob> pattern = Glob::parse(fields, "pattern");
  if (pattern)
    change.pattern = std::move(*pattern);
  else
    fields.fail("the field '" + fields.nameOf("pattern") + "' is missing");
  int64_t benefit = fields.integerOr("benefit", 0, -1);
  change.isFirst = benefit < 0;
  if (benefit > highestBenefit)
    fields.fail("a benefit is at most " + std::to_string(highestBenefit));
  change.benefit =
      change.isFirst ? highestBenefit : static_cast<unsigned short>(benefit);
  return change;
}

BenefitChange *Alternative::find(const Pattern &pattern) {
  for (BenefitChange &one : benefits)
    if (one.pattern.matchesName(nameOf(pattern))) {
      one.isUsed = true;
      return &one;
    }
  return nullptr;
}

void Alternative::setBenefit(const Pattern &pattern) {
  const BenefitChange *change = find(pattern);
  if (change && !pattern.getBenefit().isImpossibleToMatch())
    const_cast<PatternBenefit &>(pattern.benefit) =
        PatternBenefit(change->benefit);
}

PatternBenefit Alternative::benefitOf(const Pattern &pattern,
                                      PatternBenefit computed,
                                      bool inConversion) {
  const BenefitChange *change = find(pattern);
  if (!change || computed.isImpossibleToMatch())
    return computed;
  setBenefit(pattern);
  // The cost model of a conversion computes ranks, not benefits.
  if (inConversion && !change->isFirst)
    return computed;
  return PatternBenefit(change->benefit);
}

LogicalResult Alternative::runOwn(Operation *op, StringRef pipeline) {
  isOwn = true;
  PipelineError error = runPipeline(op, pipeline, /*forwards=*/true);
  isOwn = false;
  if (!error)
    return success();
  hasFailed = true;
  return emitError(op->getLoc(), "the pipeline '")
         << pipeline << "' of the alternative failed: " << *error;
}

LogicalResult Alternative::append(Operation *root) {
  if (isOwn)
    return success();
  for (const std::string &pipeline : pipelines)
    if (hasFailed || failed(runOwn(root, pipeline)))
      return failure();
  return success(!hasFailed);
}

void Alternative::runAround(Engine &engine, Frame &frame,
                            ArrayRef<std::string> pipelines, Frame *around) {
  if (pipelines.empty())
    return;
  Frame *inner = std::exchange(engine.innermost, around);
  for (const std::string &pipeline : pipelines)
    if (!hasFailed)
      (void)runOwn(frame.op(), pipeline);
  engine.innermost = inner;
  // The tool's pass manager does not know of their changes.
  if (frame.pass()->passState) {
    AnalysisManager analyses = frame.pass()->passState->analysisManager;
    analyses.invalidateAll();
  }
}

void Alternative::run(Engine &engine, Frame &frame, function_ref<void()> run) {
  // Pipelines before and after a pass are no part of it.
  runAround(engine, frame, frame.rare().before, frame.parent);
  runAround(engine, frame, frame.rare().instead, &frame);
  bool isLeftOut = hasFailed && frame.kind == Kind::Pass && !isOwn;
  if (!frame.skipped && !isLeftOut)
    run();
  runAround(engine, frame, frame.rare().after, frame.parent);
}

void countOperations(Operation *root, TextMap<int64_t> &counts) {
  std::unordered_map<const void *, int64_t> byKey;
  root->walk(
      [&](Operation *op) { ++byKey[op->getName().getAsOpaquePointer()]; });
  // They are sorted by their names then.
  // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order)
  for (const auto &[key, count] : byKey)
    counts[OperationName::getFromOpaquePointer(key).getStringRef().str()] +=
        count;
}

void Alternative::note(Operation *root) {
  if (isOwn)
    return;
  if (!report.empty())
    countOperations(root, operations);
  if (ir.empty())
    return;
  // A tool may run several pass managers, one after another.
  std::error_code error;
  raw_fd_ostream os(ir, error, llvm::sys::fs::OF_Append);
  if (error)
    return;
  root->print(os, OpPrintingFlags().assumeVerified());
  os << '\n';
  os.clear_error();
}

Object asObject(const TextMap<int64_t> &counts) {
  Object object;
  for (const auto &[name, count] : counts)
    object[name] = count;
  return object;
}

Array Alternative::describeUse() const {
  Array all;
  for (const BenefitChange &one : benefits)
    all.push_back(one.isUsed);
  return all;
}

} // namespace adbg
