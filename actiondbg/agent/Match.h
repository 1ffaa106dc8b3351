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
#include "llvm/Support/GlobPattern.h"
#include <atomic>
#include <optional>
#include <vector>

namespace adbg {

/// Changes whenever names are to be forgotten. Not 0, which is what a memo has
/// that was never asked.
inline std::atomic<unsigned> nameEpochs{1};
inline unsigned namesEpoch() {
  return nameEpochs.load(std::memory_order_acquire);
}
inline void forgetNames() { ++nameEpochs; }

/// Answers about names, kept by the address of the name: actions ask the same
/// few names for ever, and to hash the text would cost more than all the rest.
/// A newer name takes the place of an older one that has the same slot. Names
/// belong to a context or to a set of patterns, so all answers are forgotten
/// when one of these is made: an address may then have a new owner.
template <typename Answer> class Memo {
public:
  template <typename Compute>
  const Answer &get(llvm::StringRef name, Compute compute) {
    return at(name.data(), name.size(), compute);
  }
  /// Of what something else than its text is known by.
  template <typename Compute>
  const Answer &get(const void *key, Compute compute) {
    return at(key, 0, compute);
  }

private:
  template <typename Compute>
  LLVM_ATTRIBUTE_ALWAYS_INLINE const Answer &at(const void *begin, size_t size,
                                                Compute compute) {
    if (unsigned now = namesEpoch(); LLVM_UNLIKELY(epoch != now)) {
      slots.assign(1024, Slot());
      epoch = now;
    }
    uintptr_t address = reinterpret_cast<uintptr_t>(begin);
    Slot &slot = slots[((address >> 3) ^ (address >> 13)) & 1023];
    if (LLVM_UNLIKELY(slot.begin != begin || slot.size != size || !begin))
      slot = Slot{begin, size, compute()};
    return slot.answer;
  }

  struct Slot {
    const void *begin = nullptr;
    size_t size = 0;
    Answer answer = Answer();
  };
  std::vector<Slot> slots;
  unsigned epoch = 0;
};

/// A glob that remembers its answers. The names it is asked about have to
/// belong to MLIR (see Memo), unless `matchesNow` is asked.
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
