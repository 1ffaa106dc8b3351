//===- Condition.h - The condition of a breakpoint --------------*- C++ -*-===//

#ifndef ACTIONDBG_CONDITION_H
#define ACTIONDBG_CONDITION_H

#include "engine/Frame.h"
#include "match/Glob.h"
#include "llvm/Support/JSON.h"
#include <vector>

namespace adbg {

/// A node of a condition's expression tree.
class Condition {
public:
  static std::optional<Condition> parse(const llvm::json::Value &value,
                                        std::string &error);
  bool holds(const Frame &frame, uint64_t hits) const;

private:
  enum class Node : uint8_t {
    Number,
    Text,
    // Fields.
    Ordinal,
    Depth,
    Iteration,
    Line,
    Hits,
    Tag,
    Name,
    Unnamed,
    Op,
    File,
    Func,
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
    llvm::StringRef text;
  };
  static std::optional<Node> nodeOf(llvm::StringRef name);
  Operand value(const Frame &frame, uint64_t hits) const;
  bool compare(const Frame &frame, uint64_t hits) const;
  bool matchesGlob(const Operand &left, const Operand &right) const;

  Node node = Node::Number;
  int64_t number = 0;
  std::string text;
  /// The glob on the right of ~ and !~, if it is a constant.
  mutable std::optional<Glob> glob;
  std::vector<Condition> args;
};

} // namespace adbg

#endif // ACTIONDBG_CONDITION_H
