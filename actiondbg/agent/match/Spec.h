//===- Spec.h - The SPEC of a breakpoint ------------------------*- C++ -*-===//

#ifndef ACTIONDBG_SPEC_H
#define ACTIONDBG_SPEC_H

#include "match/Condition.h"
#include "support/Fields.h"

namespace adbg {

/// One part of a SPEC.
class Term {
public:
  static std::optional<Term> parse(Fields &fields);
  bool matches(const Frame &frame);
  bool isFasterThan(const Term &other) const { return about < other.about; }
  /// Whether the match depends on tag, pattern name and operation name only.
  bool isByName() const {
    return about != About::Ordinal && about < About::Name;
  }

private:
  // From cheapest to most expensive to evaluate.
  enum class About : uint8_t {
    Ordinal,
    Fold,
    Pass,
    Pattern,
    Tag,
    Op,
    Name,
    In,
    Location,
    Func
  };
  bool matchesAround(const Frame &frame);
  bool matchesLocation(mlir::Location loc);
  bool matchesPlace(mlir::Location loc);
  bool matchesFile(mlir::StringAttr file);

  About about = About::Tag;
  std::optional<Glob> glob;
  std::string path;
  int64_t line = 0, lastLine = 0, column = 0, ordinal = 0;
  /// The number of the run of the pass around; 0 for any.
  uint64_t nth = 0;
  Memo<bool> knownFiles;
};

/// The SPEC of a breakpoint: terms and a condition, all of which must hold. The
/// front end parses SPECs and conditions; the agent receives them as JSON
/// (docs/protocol.md) and evaluates them.
struct Spec {
  std::vector<Term> terms;
  std::optional<Condition> condition;
  uint64_t matched = 0;

  static std::optional<Spec> parse(Fields &fields);
  bool matches(const Frame &frame) {
    return matchesNames(frame) && matchesRest(frame);
  }
  /// Evaluates the terms by name.
  bool matchesNames(const Frame &frame);
  /// Evaluates the other terms and the condition.
  bool matchesRest(const Frame &frame) {
    return resultsOfRest(frame) != noResult;
  }
  /// The same; returns the results of the action for which the condition holds.
  Results resultsOfRest(const Frame &frame);
  Results resultsFor(const Frame &frame) {
    return matchesNames(frame) ? resultsOfRest(frame) : noResult;
  }
  /// Whether a match can only be decided after the action.
  bool isAboutOutcome() const {
    return condition && condition->isAboutOutcome();
  }
};

} // namespace adbg

#endif // ACTIONDBG_SPEC_H
