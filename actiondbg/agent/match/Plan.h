//===- Plan.h - What a fork does otherwise than the tool --------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "match/Spec.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

/// Decides for each action, in order, whether a trial skips it
/// (docs/protocol.md, Plans).
class Plan {
public:
  static std::unique_ptr<Plan> parse(Fields &fields);
  /// Takes over the counts of the previous plan.
  void inherit(const Plan &old);

  /// Writes the candidates to a file; no file if the path is empty.
  std::error_code recordTo(const std::string &path);
  /// Starts the plan at a stop, with the running actions, including the
  /// innermost if the tool is stopped before it.
  void begin(Frame *innermost, bool isBefore);
  /// Whether to skip the action. Call it once for each, in order of dispatch.
  bool skips(Frame &frame);
  /// Whether all following patterns and folds are skipped without being
  /// counted, as most are during a search. `parent`: the running action;
  /// `newest`: the latest ordinal.
  bool skipsAllUncounted(const Frame *parent, uint64_t newest) const {
    return isPlain && limit && newest >= *limit && !(parent && parent->isHeld);
  }
  bool skipsUncounted(const Frame &frame, const Frame *parent,
                      uint64_t newest) const {
    return (frame.kind == Kind::Pattern || frame.kind == Kind::Fold) &&
           skipsAllUncounted(parent, newest);
  }
  bool isRecorded() const { return record != nullptr; }
  /// Called at the end of an action. `newest`: the latest ordinal.
  void over(const Frame &frame, uint64_t newest);
  /// Called at the end of the tool, with the innermost unfinished action.
  void finish(const Frame *innermost, uint64_t newest);
  void closeRecord() { record.reset(); }

private:
  /// The operations of the attempts with one name and place.
  struct Place {
    unsigned count = 0;
    std::unordered_map<uint32_t, unsigned> byOperation;
  };
  struct Key {
    std::string base;
    unsigned nth = 0;
    std::string text() const { return base + '\0' + std::to_string(nth); }
  };
  using Keys = std::optional<TextSet>;

  static Keys parseKeys(Fields &fields, StringRef key);
  bool decide(Frame &frame);
  bool isSelected(const Frame &frame);
  bool isAlways(const Frame &frame);
  bool isRepeated(const Frame &frame);
  /// Sets whether an action is selected, held, and a candidate.
  void classify(Frame &frame);
  Key keyOf(const Frame &frame);
  /// The key of the innermost action; null for any other, and if it has none.
  const Key *knownKey(const Frame &frame) const {
    bool isKnown = !keys.empty() && keys.back().first == frame.ordinal;
    return isKnown ? &keys.back().second : nullptr;
  }
  void write(const Frame &frame, uint64_t newest);

  std::optional<uint64_t> limit;
  uint64_t only = 0;
  Keys applied, skipped;
  std::vector<Spec> specs;
  std::vector<Glob> always;
  TextSet passes, held;
  bool hasKeys = false;
  /// The plan consists of a limit only.
  bool isPlain = false;
  std::unique_ptr<raw_fd_ostream> record;

  /// The action that `only` refers to, to recognise its retries.
  Kind onlyKind = Kind::None;
  std::string onlyName;
  uint32_t onlyOperation = 0;
  TextMap<Place> places;
  /// Keys of the running actions, innermost last.
  std::vector<std::pair<uint64_t, Key>> keys;
};

/// A standing rule: actions that match are skipped, from the ordinal `first` up
/// to `last`.
struct SkipRule {
  Spec spec;
  uint64_t first = 1, last = UINT64_MAX;
  /// How many skipped actions it matched in this process, and how many of them
  /// were not wanted by their ordinal or by an earlier rule.
  uint64_t matched = 0, skipped = 0;
  static SkipRule parse(Fields &fields);
  bool matches(const Frame &frame) {
    return first <= frame.ordinal && frame.ordinal <= last &&
           spec.matches(frame);
  }
};

/// The actions to skip, by ordinal, by standing rules and by the plan of a
/// trial.
class Skips {
public:
  /// The plan of a trial; null if this process runs none.
  std::unique_ptr<Plan> plan;

  /// `ordinals` and `applied` are sorted; rules do not skip the latter. As many
  /// rules as before continue their counts.
  void set(std::vector<uint64_t> ordinals, std::vector<SkipRule> standing,
           std::vector<uint64_t> applied) {
    wanted = std::move(ordinals);
    for (size_t at = 0; rules.size() == standing.size() && at < rules.size();
         ++at) {
      standing[at].matched = rules[at].matched;
      standing[at].skipped = rules[at].skipped;
    }
    rules = std::move(standing);
    exempt = std::move(applied);
  }
  /// Replaces the standing rules by a list of them as JSON; returns false if it
  /// is invalid.
  bool setRules(StringRef json);
  /// Whether actions are skipped other than by the plan.
  bool isSet() const { return !wanted.empty() || !rules.empty(); }
  /// Whether an action is skipped other than by the plan.
  bool wants(const Frame &frame);
  /// Counts an action that is skipped with the rules that match it: they are
  /// matched once more, as none has a condition on its hits.
  void count(const Frame &frame);
  /// Whether to skip an action. Call it once for each.
  bool decide(Frame &frame) {
    bool isWanted = LLVM_UNLIKELY(isSet()) && wants(frame);
    bool isPlanned = plan && plan->skips(frame);
    return isWanted || isPlanned;
  }
  ArrayRef<SkipRule> standing() const { return rules; }

private:
  std::vector<uint64_t> wanted, exempt;
  std::vector<SkipRule> rules;
};

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
  /// Runs an action with `run`, unless it is skipped; and around a pass the
  /// pipelines that it has. After one of them has failed, no pass of the tool
  /// runs.
  void run(Engine &engine, Frame &frame, function_ref<void()> run);
  /// Whether one of its pipelines runs now.
  bool isRunning() const { return isOwn; }
  /// Called at the end of each outermost pass manager: runs the pipelines after
  /// those of the tool, and keeps the IR. Emits an error and fails where a
  /// pipeline does.
  LogicalResult finish(Operation *root, LogicalResult result);
  /// Returns the number of operations of each name in the final IR.
  TextMap<int64_t> operations() const;
  /// Writes the final IR to its file, if there is both.
  void writeIR() const;

private:
  struct FinalIR {
    std::string text;
    TextMap<int64_t> operations;
  };

  LogicalResult append(Operation *root);
  /// Counts the operations of the final IR, and prints it. Observe nothing
  /// meanwhile.
  void note(Operation *root);
  BenefitChange *find(const Pattern &pattern);
  LogicalResult runOwn(Operation *op, StringRef pipeline);
  void runAround(Engine &engine, Frame &frame, ArrayRef<std::string> pipelines,
                 Frame *around);

  std::unordered_set<const PatternApplicator *> ordered;
  bool isOwn = false;
  bool hasFailed = false;
  /// Of each operation on which the latest pass manager succeeded, by its id: a
  /// tool may run several on the same one, or on the parts of its input.
  std::map<uint32_t, FinalIR> finals;
};

/// Adds the number of operations of each name in `root`, itself included.
void countOperations(Operation *root, TextMap<int64_t> &counts);

} // namespace adbg
