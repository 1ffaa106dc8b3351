//===- Skips.h - The actions to skip ----------------------------*- C++ -*-===//

#pragma once

#include "match/Plan.h"

namespace adbg {

/// A standing rule: actions that match are skipped, from the ordinal `first` up
/// to `last`.
struct SkipRule {
  Spec spec;
  uint64_t first = 1, last = UINT64_MAX;
  /// How many actions it matched in this process.
  uint64_t uses = 0;
  static SkipRule parse(Fields &fields);
};

/// The actions to skip, by ordinal, by standing rules and by the plan of a
/// trial. Records the skipped ones.
class Skips {
public:
  /// The plan of a trial; null if this process runs none.
  std::unique_ptr<Plan> plan;

  /// `ordinals` and `applied` are sorted; rules do not skip the latter. As many
  /// rules as before continue the counts of their uses.
  void set(std::vector<uint64_t> ordinals, std::vector<SkipRule> standing,
           std::vector<uint64_t> applied) {
    wanted = std::move(ordinals);
    for (size_t at = 0; rules.size() == standing.size() && at < rules.size();
         ++at)
      standing[at].uses = rules[at].uses;
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
  /// Whether to skip an action. Call it once for each.
  bool decide(Frame &frame) {
    bool isWanted = LLVM_UNLIKELY(isSet()) && wants(frame);
    bool isPlanned = plan && plan->skips(frame);
    return isWanted || isPlanned;
  }
  /// Records an action that is about to run or to be skipped.
  void note(const Frame &frame) {
    if (frame.skipped && !frame.isPlanned)
      done.push_back(frame.ordinal);
  }
  ArrayRef<uint64_t> skipped() const { return done; }
  ArrayRef<SkipRule> standing() const { return rules; }

private:
  std::vector<uint64_t> done, wanted, exempt;
  std::vector<SkipRule> rules;
};

} // namespace adbg
