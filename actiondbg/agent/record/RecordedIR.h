//===- RecordedIR.h - IR before and after each change -----------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "record/RecordFile.h"

namespace adbg {

struct Changed;

/// The texts of a thread, each written once.
class Texts {
public:
  /// Returns the key of a text; 0 only for the empty text.
  uint64_t of(StringRef text);
  Section section{SectionKind::Texts, 0};

private:
  static constexpr size_t most = 1 << 16;
  std::unordered_set<uint64_t> known;
};

/// Records the IR before and after each change of one thread.
class IRKeeper {
public:
  virtual ~IRKeeper() = default;
  virtual void begin(const Frame &frame) = 0;
  virtual void end(const Frame &frame) = 0;
  /// Called before an operation is destroyed, and after any other change.
  virtual void change(const Changed &change) = 0;

  Texts texts;
  Section rows{SectionKind::IR, sizeof(IRRow)};

protected:
  void add(uint64_t ordinal, uint32_t id, uint64_t before, uint64_t after);
  bool isAlive(Operation *op, uint32_t id) const {
    return id && ids.of(op) == id;
  }
};

/// A range of ordinals.
struct Ordinals {
  uint64_t first = 0, last = ~uint64_t(0);
  /// Returns the range "first-last"; all ordinals for an empty text.
  static Ordinals of(StringRef text);
  bool contains(uint64_t ordinal) const {
    return first <= ordinal && ordinal <= last;
  }
};

/// Records the functions around each change: of all actions, or of passes only.
class FunctionKeeper : public IRKeeper {
public:
  FunctionKeeper(bool onlyPasses, Ordinals of)
      : onlyPasses(onlyPasses), kept(of) {}
  void begin(const Frame &frame) override;
  void end(const Frame &frame) override;
  void change(const Changed &change) override;

private:
  struct Open {
    Operation *scope = nullptr;
    uint32_t id = 0;
    uint64_t before = 0;
    /// Whether it runs in a conversion, so that both texts are generic.
    bool isIncomplete = false;
  };
  struct Known {
    uint32_t id = 0;
    uint64_t text = 0;
    bool isIncomplete = false;
    bool isStale = false;
  };
  /// A fold whose result its caller applies after it.
  struct PendingFold {
    uint64_t ordinal = 0;
    Open action;
  };
  /// Returns the key of the text and, behind a null character, of the list of
  /// its values.
  uint64_t print(Operation *scope, bool isIncomplete);
  /// Returns the function around an operation, as it is now.
  Open open(Operation *op, bool isIncomplete, bool isSure);
  void finishFold();
  bool keeps(const Frame &frame) const {
    return kept.contains(frame.ordinal) &&
           (!onlyPasses || frame.kind == Kind::Pass);
  }

  const bool onlyPasses;
  const Ordinals kept;
  std::vector<Open> stack;
  std::unordered_map<Operation *, Known> known;
  PendingFold pendingFold;
  /// The operation whose text is that after the pass that has just ended, and
  /// its digest then: a tool may change it before the next pass. Null after
  /// anything else.
  Operation *afterPass = nullptr;
  uint64_t digestAfterPass = 0;
};

/// Records each changed operation in one line: the cost does not depend on the
/// size of the function. Values have the names of the input, others the ids of
/// their operations, `@12#1`, or of those around their blocks, `@9.arg0`.
class OperationKeeper : public IRKeeper {
public:
  using IRKeeper::IRKeeper;
  void begin(const Frame &frame) override;
  void end(const Frame &frame) override;
  void change(const Changed &change) override;

private:
  struct Touched {
    Operation *op;
    uint32_t id;
    uint64_t before;
  };
  struct Open {
    uint64_t ordinal = 0;
    std::vector<Touched> touched;
    /// Their ids: a pass may touch any number, and each more than once.
    std::unordered_set<uint32_t> ids;
  };
  static constexpr size_t most = 4096;
  std::string lineOf(Operation *op) const;
  void writeName(raw_ostream &os, Value value) const;
  void writeResults(raw_ostream &os, Operation *op) const;
  uint64_t textOf(Operation *op) { return texts.of(lineOf(op)); }
  /// Stores the lines of the operations in `root`, of all or only of new ones.
  void recordLines(Operation *root, bool anew);
  void addToPreviousFold(const Changed &change);

  std::vector<Open> stack;
  /// The latest line of each operation, by operation id.
  std::unordered_map<uint32_t, uint64_t> lines;
  size_t depth = 0;
};

} // namespace adbg
