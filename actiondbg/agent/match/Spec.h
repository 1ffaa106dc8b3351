//===- Spec.h - The SPEC of a breakpoint ------------------------*- C++ -*-===//

#pragma once

#include "match/Condition.h"

namespace adbg {

/// One part of a SPEC.
class Term {
public:
  static Term parse(Fields &fields);
  bool isFasterThan(const Term &other) const { return about < other.about; }
  /// Whether a term matches by the tag, the pattern name and the operation name
  /// of an action, or needs more than these.
  enum class NameMatch : uint8_t { No, Yes, Open };
  NameMatch matchNames(const Frame &frame);
  /// Whether a term matches that the names leave open.
  bool matchesOpen(const Frame &frame);

private:
  // From cheapest to most expensive to evaluate.
  enum class About : uint8_t {
    Ordinal,
    Context,
    Mlir,
    Fold,
    Pass,
    Pattern,
    Tag,
    Op,
    Name,
    In,
    Location,
    Loc,
    Func
  };
  bool matchesAround(const Frame &frame);
  bool matchesFunction(const Frame &frame);
  bool matchesLocation(Location loc);
  /// Whether a name inside the location matches.
  bool matchesNames(Location loc);
  bool matchesPlace(Location loc);
  bool matchesFile(StringAttr file);

  About about = About::Tag;
  std::optional<Glob> glob;
  std::string path;
  int64_t line = 0, lastLine = 0, column = 0, ordinal = 0;
  /// The number of the run of the pass around; 0 for any.
  uint64_t nth = 0;
  Memo<bool> knownFiles;
  /// Of locations or functions: consecutive actions are often about the same.
  LastAnswer<bool> last;
};

/// Whether a glob matches the argument or the class of a pass, which may be
/// null.
bool matchesPass(Glob &glob, const Pass *pass);

/// The SPEC of a breakpoint: terms and a condition, all of which must hold. The
/// front end parses SPECs and conditions; the agent receives them as JSON
/// (docs/protocol.md) and evaluates them.
struct Spec {
  std::vector<Term> terms;
  std::optional<Condition> condition;
  uint64_t matched = 0;

  static Spec parse(Fields &fields);
  using Terms = std::vector<Term *>;
  /// Returns the terms that the names of an action leave open; nullopt if
  /// another one does not match.
  std::optional<Terms> openTerms(const Frame &frame);
  /// Evaluates the open terms and the condition; returns the results of the
  /// action for which the condition holds.
  Results resultsFor(const Frame &frame, ArrayRef<Term *> open);
  Results resultsFor(const Frame &frame) {
    std::optional<Terms> open = openTerms(frame);
    return open ? resultsFor(frame, *open) : noResult;
  }
  bool matches(const Frame &frame) { return resultsFor(frame) != noResult; }
  /// Whether a match can only be decided after the action.
  bool isAboutOutcome() const {
    return condition && condition->isAboutOutcome();
  }
};

} // namespace adbg
