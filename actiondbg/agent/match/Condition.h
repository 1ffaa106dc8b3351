//===- Condition.h - The condition of a breakpoint --------------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "match/Glob.h"

namespace adbg {

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
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    MatchesNot
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
  static std::optional<Node> operatorNamed(StringRef name);
  static Operand numberOf(int64_t value) { return {false, value, {}}; }
  static Operand textOf(StringRef value) { return {true, 0, value}; }
  bool holdsAt(const Frame &frame, const Moment &moment) const;
  Operand value(const Frame &frame, const Moment &moment) const;
  bool compare(const Frame &frame, const Moment &moment) const;
  bool matchesGlob(const Operand &left, const Operand &right) const;

  Node node = Node::Number;
  const Field *field = nullptr;
  int64_t number = 0;
  std::string text;
  /// The glob on the right of ~ and !~, if it is a constant.
  mutable std::optional<Glob> glob;
  std::vector<Condition> args;
  bool needsOutcome = false;
};

} // namespace adbg
