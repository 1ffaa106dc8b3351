//===- Spec.h - Globs, conditions and SPECs --------------------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "support/Fields.h"
#include "support/Memo.h"

#include "llvm/Support/GlobPattern.h"

namespace adbg {

/// A glob with a cache of its matches. The names given to it must be owned by
/// MLIR, except for `matchesNow`.
class Glob {
public:
  static std::optional<Glob> create(StringRef text, std::string &error);
  /// The same for a text of a request, whose error is reported.
  static std::optional<Glob> create(StringRef text, Fields &fields);
  /// Reads a field that may be absent or empty.
  static std::optional<Glob> parse(Fields &fields, StringRef key);

  bool matchesNow(StringRef text) const;
  /// Matches the text unchanged.
  bool matches(StringRef text);
  /// Matches a C++ name: whole, without the anonymous namespace, or its last
  /// component.
  bool matchesName(StringRef name);

private:
  std::string text;
  llvm::GlobPattern pattern;
  Memo<bool> known, knownNames;
};

/// A node of a condition's expression tree.
class Condition {
public:
  static std::optional<Condition> parse(const Json &value, std::string &error);
  /// Returns the results of the action for which the condition holds: all or
  /// none, unless it is about the outcome. Every other field is read now, so
  /// that it means the action before it ran. `hits` is a field.
  Results resultsFor(const Frame &frame, uint64_t hits) const;
  bool holds(const Frame &frame, uint64_t hits) const {
    return resultsFor(frame, hits) != noResult;
  }
  /// Whether the condition can only be decided after the action.
  bool isAboutOutcome() const { return needsOutcome; }

private:
  enum class Node : uint8_t {
    Number,
    Text,
    Field,
    // Operators.
    And,
    Or,
    Not,
    Compare,
    Matches,
    MatchesNot
  };
  /// The orders of two operands for which a comparison holds, a bit each.
  enum Order : uint8_t { Less = 1, Equal = 2, Greater = 4 };
  struct Operator {
    StringRef name;
    Node node;
    uint8_t orders = 0;
  };
  struct Operand {
    bool isText = false;
    int64_t number = 0;
    StringRef text;
  };
  /// The values of the fields that are not in the frame.
  struct Moment {
    uint64_t hits = 0;
    Result result = Result::Succeeded;
  };
  /// A field by its name; one line of a table.
  struct Field {
    StringRef name;
    Operand (*value)(const Frame &frame, const Moment &moment);
    /// Whether MLIR owns the text, so that it stays the same.
    bool isOwnedByMlir = false;
  };
  static const Field *fieldNamed(StringRef name);
  static const Field unnamed;
  static const Operator *operatorNamed(StringRef name);
  static Operand numberOf(int64_t value) { return {false, value, {}}; }
  static Operand textOf(StringRef value) { return {true, 0, value}; }
  bool holdsAt(const Frame &frame, const Moment &moment) const;
  Operand value(const Frame &frame, const Moment &moment) const;
  bool compare(const Frame &frame, const Moment &moment) const;
  bool matchesGlob(const Operand &left, const Operand &right) const;

  Node node = Node::Number;
  uint8_t orders = 0;
  const Field *field = nullptr;
  int64_t number = 0;
  std::string text;
  /// The glob on the right of ~ and !~, if it is a constant.
  mutable std::optional<Glob> glob;
  std::vector<Condition> args;
  bool needsOutcome = false;
};

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
  /// Takes over what was matched before a change of the condition or the terms.
  void continueFrom(Spec &&old) {
    matched = old.matched;
    running = std::move(old.running);
  }

private:
  /// Returns the number of an action among the matches, from 1: the same when
  /// it is evaluated again while it runs.
  uint64_t countOf(const Frame &frame);

  struct Counted {
    uint64_t ordinal;
    unsigned depth;
    uint64_t number;
  };
  /// The running actions that matched, and the last ones that are over.
  std::vector<Counted> running;
};

} // namespace adbg
