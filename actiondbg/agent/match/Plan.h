//===- Plan.h - Which actions are left out of a trial -----------*- C++ -*-===//

#ifndef ACTIONDBG_PLAN_H
#define ACTIONDBG_PLAN_H

#include "match/Spec.h"
#include "observe/Identity.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace adbg {

/// Says of each action, in order, whether it is to be skipped: the search for
/// the one to blame (docs/protocol.md, Plans).
class Plan {
public:
  static std::unique_ptr<Plan> parse(Fields &fields);
  /// Takes over what the plan before it has counted.
  void inherit(const Plan &old);

  /// Writes what could be skipped into a file; into none if it is empty.
  std::error_code recordTo(const std::string &path);
  /// Begins at a stop: with the actions that run, and with the innermost if the
  /// tool stands before it.
  void begin(Frame *innermost, bool isBefore, const Identities &ids);
  /// Whether the action is skipped. To be asked once of each, when it comes.
  bool skips(Frame &frame, const Identities &ids);
  /// Whether all patterns and folds that come next are skipped, and nothing
  /// more is to be known of them: most are, in the search. `parent`: the action
  /// that runs; `newest`: the newest ordinal.
  bool leavesOutAll(const Frame *parent, uint64_t newest) const {
    return isPlain && limit && newest >= *limit && !(parent && parent->isHeld);
  }
  bool leavesOut(const Frame &frame, const Frame *parent,
                 uint64_t newest) const {
    return (frame.kind == Kind::Pattern || frame.kind == Kind::Fold) &&
           leavesOutAll(parent, newest);
  }
  bool isRecorded() const { return record != nullptr; }
  /// To be told when an action is over. `newest`: the newest ordinal.
  void over(const Frame &frame, uint64_t newest);
  /// To be told at the end, with the innermost action that is not over.
  void finish(const Frame *innermost, uint64_t newest);

private:
  /// The operations on which actions of one name and place were tried.
  struct Place {
    unsigned count = 0;
    llvm::DenseMap<uint32_t, unsigned> byOperation;
  };
  struct Key {
    std::string base;
    unsigned nth = 0;
    std::string text() const { return base + '\0' + std::to_string(nth); }
  };
  using Keys = std::optional<llvm::StringSet<>>;

  static Keys parseKeys(Fields &fields, llvm::StringRef key);
  void parseSpecs(Fields &fields);
  void parseGlobs(Fields &fields);
  bool decide(Frame &frame, const Identities &ids);
  bool isCandidate(const Frame &frame);
  bool isAlways(const Frame &frame);
  bool isRepeated(const Frame &frame, const Identities &ids);
  Key keyOf(const Frame &frame, const Identities &ids);
  void write(const Frame &frame, uint64_t newest);

  std::optional<uint64_t> limit;
  uint64_t only = 0;
  Keys applied, skipped;
  std::vector<Spec> specs;
  std::vector<Glob> always;
  llvm::StringSet<> passes, held;
  bool hasKeys = false;
  /// Only a limit decides.
  bool isPlain = false;
  std::unique_ptr<llvm::raw_fd_ostream> record;

  /// What `only` was, so that it is known again.
  Kind onlyKind = Kind::None;
  std::string onlyName;
  uint32_t onlyOperation = 0;
  llvm::StringMap<Place> places;
  /// Of the actions that run, innermost last.
  std::vector<std::pair<uint64_t, Key>> keys;
};

} // namespace adbg

#endif // ACTIONDBG_PLAN_H
