//===- RecordedIR.h - IR before and after each change -----------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "record/RecordFile.h"

namespace adbg {

struct Changed;

/// The texts of a thread, each written once.
class Texts {
public:
  explicit Texts(Section &section) : section(section) {}
  /// Returns the key of a text; 0 only for the empty text.
  uint64_t of(StringRef text);

private:
  Section &section;
  static constexpr size_t most = 1 << 16;
  std::unordered_set<uint64_t> known;
};

/// The IR that is recorded beside the actions.
enum class IRDetail : uint8_t { None, Changed, Function, Pass };

/// Constants of more elements are elided: in texts that are compared, as what
/// is elided reads the same, whatever the elements are, and in others.
constexpr int64_t mostElements = 4096, fewElements = 16;

/// A range of ordinals.
struct Ordinals {
  uint64_t first = 0, last = ~uint64_t(0);
  /// Returns the range "first-last"; all ordinals for an empty text.
  static Ordinals of(StringRef text);
  bool areAll() const { return !first && last == ~uint64_t(0); }
  bool contains(uint64_t ordinal) const {
    return first <= ordinal && ordinal <= last;
  }
};

/// Records the IR before and after each change of one thread.
class IRKeeper {
public:
  /// Returns one that records the actions of a range, or each changed
  /// operation; null if no IR is recorded.
  static std::unique_ptr<IRKeeper> of(IRDetail detail, Ordinals ordinals,
                                      Sections &sections);
  explicit IRKeeper(Sections &sections)
      : texts(sections.texts), rows(sections.irs) {}
  virtual ~IRKeeper() = default;
  virtual void begin(const Frame &frame) = 0;
  virtual void end(const Frame &frame) = 0;
  /// Called before an operation is destroyed, and after any other change.
  virtual void change(const Changed &change) = 0;

protected:
  Texts texts;
  void add(uint64_t ordinal, uint32_t id, uint64_t before, uint64_t after);
  bool isAlive(Operation *op, uint32_t id) const {
    return id && ids.of(op) == id;
  }

private:
  Rows<IRRow> &rows;
};

} // namespace adbg
