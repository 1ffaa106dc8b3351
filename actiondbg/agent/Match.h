//===- Match.h - Breakpoints: terms and conditions --------------*- C++ -*-===//
//
// Parsing of SPECs and conditions is the front end's; the agent gets them as
// JSON (docs/protocol.md) and only evaluates them.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_MATCH_H
#define ACTIONDBG_MATCH_H

#include "Fields.h"
#include "Frame.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"
#include <optional>
#include <vector>

namespace adbg {

/// A glob that remembers its answers: actions ask the same few names for ever.
class Glob {
public:
  static std::optional<Glob> create(llvm::StringRef text, std::string &error);

  /// Matches the text as it is.
  bool matches(llvm::StringRef text);
  /// Matches a C++ name: whole, without the anonymous namespace, or its last
  /// component.
  bool matchesName(llvm::StringRef name);

private:
  std::string text;
  std::shared_ptr<llvm::GlobPattern> pattern;
  llvm::StringMap<bool> known;
  llvm::StringMap<bool> knownNames;
};

/// One part of a SPEC.
class Term {
public:
  static std::optional<Term> parse(Fields &fields);
  bool matches(const Frame &frame);

private:
  enum class About : uint8_t {
    Tag,
    Pattern,
    Pass,
    Fold,
    Name,
    Op,
    Func,
    Location,
    Ordinal
  };
  bool matchesLocation(mlir::Location loc);
  bool matchesPlace(mlir::Location loc);
  bool matchesFile(mlir::StringAttr file);

  About about = About::Tag;
  std::optional<Glob> glob;
  std::string path;
  int64_t line = 0, lastLine = 0, column = 0, ordinal = 0;
  llvm::StringMap<bool> knownFiles;
};

/// A node of a condition.
class Condition {
public:
  static std::optional<Condition> parse(const llvm::json::Value &value,
                                        std::string &error);
  bool holds(const Frame &frame, uint64_t hits) const;

private:
  struct Operand {
    bool isText = false;
    int64_t number = 0;
    std::string text;
  };
  Operand value(const Frame &frame, uint64_t hits) const;
  bool compare(const Frame &frame, uint64_t hits) const;

  std::string field;
  std::string call;
  Operand constant;
  std::vector<Condition> args;
};

/// Terms and a condition that all have to hold.
struct Spec {
  std::vector<Term> terms;
  std::optional<Condition> condition;
  uint64_t matched = 0;

  static std::optional<Spec> parse(Fields &fields);
  bool matches(const Frame &frame);
};

struct Breakpoint {
  int id = 0;
  bool enabled = true;
  bool temporary = false;
  bool after = false;
  int64_t ignore = 0;
  uint64_t hits = 0;
  Spec spec;

  static std::optional<Breakpoint> parse(Fields &fields);
};

/// Returns the first place in a file inside `loc`.
std::optional<struct FilePlace> firstPlace(mlir::Location loc);

/// Calls `visit` on each location inside `loc` until it returns true.
bool visitLocations(mlir::Location loc,
                    llvm::function_ref<bool(mlir::Location)> visit);

} // namespace adbg

#endif // ACTIONDBG_MATCH_H
