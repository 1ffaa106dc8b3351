//===- Plan.h - The actions skipped in a trial ------------------*- C++ -*-===//

#pragma once

#include "match/Spec.h"
#include "support/Maps.h"

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
  void parseSpecs(Fields &fields);
  void parseGlobs(Fields &fields);
  bool decide(Frame &frame);
  bool isCandidate(const Frame &frame);
  bool isAlways(const Frame &frame);
  bool isRepeated(const Frame &frame);
  Key keyOf(const Frame &frame);
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

} // namespace adbg
