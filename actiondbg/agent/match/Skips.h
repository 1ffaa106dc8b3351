//===- Skips.h - The actions to skip ----------------------------*- C++ -*-===//

#ifndef ACTIONDBG_SKIPS_H
#define ACTIONDBG_SKIPS_H

#include "match/Plan.h"

namespace adbg {

/// The actions to skip, by ordinal and by the plan of a trial. Records the
/// skipped ones.
class Skips {
public:
  /// The plan of a trial; null if this process runs none.
  std::unique_ptr<Plan> plan;

  /// `ordinals` are sorted.
  void set(std::vector<uint64_t> ordinals) { wanted = std::move(ordinals); }
  bool hasOrdinals() const { return !wanted.empty(); }
  bool contains(uint64_t ordinal) const {
    return llvm::binary_search(wanted, ordinal);
  }
  /// Whether to skip an action. Call it once for each.
  bool decide(Frame &frame, const Identities &ids) {
    bool isWanted = LLVM_UNLIKELY(hasOrdinals()) && contains(frame.ordinal);
    bool isPlanned = plan && plan->skips(frame, ids);
    return isWanted || isPlanned;
  }
  /// Records an action that is about to run or to be skipped.
  void note(const Frame &frame) {
    if (frame.skipped && !frame.isPlanned)
      done.push_back(frame.ordinal);
  }
  llvm::ArrayRef<uint64_t> skipped() const { return done; }

private:
  std::vector<uint64_t> done, wanted;
};

} // namespace adbg

#endif // ACTIONDBG_SKIPS_H
