//===- Match.h - Breakpoints: terms and conditions --------------*- C++ -*-===//
//
// Parsing of SPECs and conditions is the front end's; the agent gets them as
// JSON (docs/protocol.md) and only evaluates them.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_MATCH_H
#define ACTIONDBG_MATCH_H

#include "engine/Frame.h"
#include "support/Fields.h"
#include "support/Memo.h"
#include "llvm/Support/GlobPattern.h"
#include <optional>
#include <vector>

namespace adbg {

/// A glob that remembers its answers. The names it is asked about have to
/// belong to MLIR, unless `matchesNow` is asked.
class Glob {
public:
  static std::optional<Glob> create(llvm::StringRef text, std::string &error);

  bool matchesNow(llvm::StringRef text) const;
  /// Matches the text as it is.
  bool matches(llvm::StringRef text);
  /// Matches a C++ name: whole, without the anonymous namespace, or its last
  /// component.
  bool matchesName(llvm::StringRef name);

private:
  std::string text;
  std::shared_ptr<llvm::GlobPattern> pattern;
  Memo<bool> known, knownNames;
};

/// One part of a SPEC.
class Term {
public:
  static std::optional<Term> parse(Fields &fields);
  bool matches(const Frame &frame);
  bool isFasterThan(const Term &other) const { return about < other.about; }
  /// Whether the answer is the same for all actions of one tag, pattern name
  /// and operation name.
  bool isByName() const {
    return about != About::Ordinal && about < About::Location;
  }

private:
  // From what is asked fastest to what is asked slowest.
  enum class About : uint8_t {
    Ordinal,
    Fold,
    Pass,
    Pattern,
    Tag,
    Name,
    Op,
    Location,
    Func
  };
  bool matchesLocation(mlir::Location loc);
  bool matchesPlace(mlir::Location loc);
  bool matchesFile(mlir::StringAttr file);

  About about = About::Tag;
  std::optional<Glob> glob;
  std::string path;
  int64_t line = 0, lastLine = 0, column = 0, ordinal = 0;
  Memo<bool> knownFiles;
};

/// A node of a condition.
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
    Op,
    File,
    Func,
    // Calls.
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

/// Terms and a condition that all have to hold.
struct Spec {
  std::vector<Term> terms;
  std::optional<Condition> condition;
  uint64_t matched = 0;

  static std::optional<Spec> parse(Fields &fields);
  bool matches(const Frame &frame) {
    return matchesNames(frame) && matchesRest(frame);
  }
  /// The terms that are by name.
  bool matchesNames(const Frame &frame);
  /// The other terms, and the condition.
  bool matchesRest(const Frame &frame);
};

/// Returns the first place in a file inside `loc`.
std::optional<struct FilePlace> firstPlace(mlir::Location loc);

/// Calls `visit` on each location inside `loc` until it returns true.
bool visitLocations(mlir::Location loc,
                    llvm::function_ref<bool(mlir::Location)> visit);

} // namespace adbg

#endif // ACTIONDBG_MATCH_H
