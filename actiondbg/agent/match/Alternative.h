//===- Alternative.h - What a fork does otherwise ---------------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "match/Glob.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

class Engine;

/// Another benefit of the patterns of a name.
struct BenefitChange {
  Glob pattern;
  unsigned short benefit = 0;
  /// The highest benefit: such patterns are tried first, also in a conversion,
  /// which orders by cost before it looks at benefits.
  bool isFirst = false;
  /// Whether a pattern had the name.
  bool isUsed = false;
  static BenefitChange parse(Fields &fields);
};

/// What a fork does otherwise than the tool, besides skips: the benefits of
/// patterns, and pipelines that run after the tool's; and what it reports at
/// its end.
class Alternative {
public:
  std::vector<BenefitChange> benefits;
  /// Run on the operation of each outermost pass manager after its passes.
  std::vector<std::string> pipelines;
  /// The file for the report; empty for none.
  std::string report;
  /// The file for the final IR; empty for none.
  std::string ir;

  /// Sets the benefit of a pattern in the pattern itself, from which drivers
  /// and applicators read it.
  void setBenefit(const Pattern &pattern);
  /// Returns the benefit of a pattern for an applicator, given that of its cost
  /// model.
  PatternBenefit benefitOf(const Pattern &pattern, PatternBenefit computed,
                           bool inConversion);
  /// Called when an applicator orders its patterns.
  void noteOrdered(const PatternApplicator *one) { ordered.insert(one); }
  /// Whether an applicator of a greedy driver ordered its patterns before this
  /// alternative was set. Returns true once for each.
  bool isOutdated(const PatternApplicator *one) {
    return !benefits.empty() && ordered.insert(one).second;
  }
  /// Runs the pipelines after those of the tool; emits an error and fails where
  /// one does.
  LogicalResult append(Operation *root);
  /// Runs an action with `run`, unless it is skipped; and around a pass the
  /// pipelines that it has. After one of them has failed, no pass of the tool
  /// runs.
  void run(Engine &engine, Frame &frame, function_ref<void()> run);
  /// Whether one of its pipelines runs now.
  bool isRunning() const { return isOwn; }
  /// Counts the operations of the final IR, and prints it. Observe nothing
  /// meanwhile.
  void note(Operation *root);
  /// Whether each change of a benefit found a pattern.
  Array describeUse() const;
  const TextMap<int64_t> &finalOperations() const { return operations; }

private:
  BenefitChange *find(const Pattern &pattern);
  LogicalResult runOwn(Operation *op, StringRef pipeline);
  void runAround(Engine &engine, Frame &frame, ArrayRef<std::string> pipelines,
                 Frame *around);

  std::unordered_set<const PatternApplicator *> ordered;
  TextMap<int64_t> operations;
  bool isOwn = false;
  bool hasFailed = false;
};

/// Adds the number of operations of each name in `root`, itself included.
void countOperations(Operation *root, TextMap<int64_t> &counts);
Object asObject(const TextMap<int64_t> &counts);

} // namespace adbg
