//===- Sections.h - The sections of a recording -----------------*- C++ -*-===//
//
// docs/recordings.md describes the format. A new section is its kind, the
// struct of its items, and a member of Sections, which the thread writes and
// empties with the others.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/LLVM.h"

#include <bit>

namespace adbg {

enum class SectionKind : uint16_t {
  Header = 1,
  Strings,
  Locations,
  Operations,
  Actions,
  Patches,
  Changes,
  Reasons,
  Texts,
  IR,
  Samples,
  End,
  Links,
  Stages,
  StageOperations,
  Contexts,
  Findings,
  PatternSets,
  Regions
};

/// The kind of thing that a string names.
enum class Space : uint16_t {
  Action = 1,
  Operation,
  File,
  Function,
  Reason,
  Location,
  Context,
  Values
};
constexpr unsigned spaces = 9;

// The items of sections, in file layout. Their fields are those of
// recording/format/structs.py.
struct ActionRow {
  uint32_t start, duration, operation, name;
  uint16_t depth;
  uint8_t outcome, flags;
};
struct LocationRow {
  uint32_t id, file, line, col, text;
};
struct PatchRow {
  uint32_t row;
  uint8_t outcome, flags;
  uint16_t pad;
  uint64_t duration;
};
struct ReasonRow {
  uint32_t row, reason;
};
struct ContextRow {
  uint32_t row, context;
};
/// A rule that a pattern breaks; see Rule.
struct FindingRow {
  uint32_t row, operation, rule, text;
};
struct IRRow {
  uint32_t row, operation;
  uint64_t before, after;
};
struct StageRow {
  uint32_t thread, row, kind, generic;
  uint64_t text;
};

// The items of packed sections. The numbers `near` are usually close to those
// of the item before.
struct OperationItem {
  struct {
    int64_t row, operation, location, function;
  } near;
  struct {
    uint64_t name;
  } far;
};
struct ChangeItem {
  struct {
    int64_t row, operation;
  } near;
  struct {
    uint64_t code, by, byResult;
  } far;
};
struct LinkItem {
  struct {
    int64_t row, operation;
  } near;
  struct {
    uint64_t kind, source;
  } far;
};
struct StageOperationItem {
  struct {
    int64_t operation, parent, line, location;
  } near;
  struct {
    uint64_t name;
  } far;
};

/// Facts of an operation as long as it exists.
struct RegionsItem {
  struct {
    int64_t operation;
  } near;
  struct {
    uint64_t regions;
  } far;
};

/// How one operation was made from another, where no change reports it, or
/// which other one defines an operand of a new operation, 0 for an argument of
/// a block; one link an operand, in order. `Body`: it got a body of the other
/// one, copied or moved. `Before`: a pass placed it in front of the other one.
/// `Heir`: it is an operand in the place of the other one, which was erased.
enum class LinkKind : uint8_t {
  Cloned,
  Replaced,
  ReplacedByArgument,
  Uses,
  Body,
  Before,
  Heir
};

/// The memory that holds the items of a section.
struct Part {
  SectionKind kind = SectionKind::Header;
  /// Size of an item in bytes; 0 if it varies.
  uint16_t size = 0;
  uint32_t count = 0;
  const void *from = nullptr;
  size_t bytes = 0;
};

class Section;
/// The most sections of a chunk.
constexpr unsigned mostSections = 32;
/// The sections of a chunk, in the order in which they are written.
using SectionList = SmallVector<Section *, mostSections>;

/// Buffered items of one section, which enters itself into a list.
class Section {
public:
  Section(SectionList &list, SectionKind kind, uint16_t size = 0)
      : kind(kind), size(size) {
    list.push_back(this);
  }
  Section(const Section &) = delete;
  Section &operator=(const Section &) = delete;

  void append(const void *from, size_t many) {
    const char *first = static_cast<const char *>(from);
    bytes.append(first, first + many);
  }
  template <typename Row> void add(const Row &row) {
    ++count;
    append(&row, sizeof(Row));
  }
  /// Pads with zeros to a multiple of `to`.
  void pad(size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); }
  virtual void clear() {
    count = 0;
    bytes.clear();
  }
  Part part() const { return {kind, size, count, bytes.data(), bytes.size()}; }

  SectionKind kind;
  uint16_t size;
  uint32_t count = 0;
  SmallVector<char, 0> bytes;

protected:
  ~Section() = default;
};

/// Items that are all of one struct.
template <typename Row> class Rows final : public Section {
public:
  Rows(SectionList &list, SectionKind kind)
      : Section(list, kind, sizeof(Row)) {}
  void add(const Row &row) { Section::add(row); }
};

/// Codes 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
constexpr int64_t zigzag(int64_t value) { return value << 1 ^ value >> 63; }

/// Items of LEB128-encoded numbers. A number in `near` is encoded as its
/// difference to the number of the item before, zigzag-coded.
template <typename Item> class Packed final : public Section {
public:
  using Section::Section;

  void pack(const Item &item) {
    packAll(item, std::make_index_sequence<sizeof(item.near) / 8>(),
            std::make_index_sequence<sizeof(item.far) / 8>());
  }
  /// Removes the item that was added last.
  void dropLast() {
    --count;
    bytes.resize(before.bytes);
    now = before;
  }
  /// Resets the previous item to zeros, too.
  void clear() override {
    Section::clear();
    now = Before();
  }

private:
  using Near = std::array<int64_t, sizeof(Item::near) / 8>;
  using Far = std::array<uint64_t, sizeof(Item::far) / 8>;

  // Unrolled by a fold expression: compilers do not unroll the loop.
  template <size_t... nearOnes, size_t... farOnes>
  void packAll(const Item &item, std::index_sequence<nearOnes...>,
               std::index_sequence<farOnes...>) {
    const auto near = std::bit_cast<Near>(item.near);
    const auto far = std::bit_cast<Far>(item.far);
    constexpr size_t most = 10 * sizeof(Item) / 8;
    size_t size = bytes.size();
    if (LLVM_UNLIKELY(bytes.capacity() < size + most))
      bytes.reserve(std::max<size_t>(size + most, 1 << 16));
    before = now;
    before.bytes = size;
    ++count;
    char *end = bytes.data() + size;
    ((end = put(end, zigzag(near[nearOnes] - now.numbers[nearOnes])),
      now.numbers[nearOnes] = near[nearOnes]),
     ...);
    ((end = put(end, far[farOnes])), ...);
    bytes.set_size(end - bytes.data());
  }
  static char *put(char *to, uint64_t number) {
    for (; LLVM_UNLIKELY(number >= 0x80); number >>= 7)
      *to++ = static_cast<char>(number | 0x80);
    *to++ = static_cast<char>(number);
    return to;
  }
  struct Before {
    Near numbers = {};
    size_t bytes = 0;
  };
  Before now, before;
};

/// What a thread has recorded and not written yet.
class Sections {
public:
  SectionList all;
  Section strings{all, SectionKind::Strings};
  Rows<LocationRow> locations{all, SectionKind::Locations};
  Packed<OperationItem> operations{all, SectionKind::Operations};
  Rows<PatchRow> patches{all, SectionKind::Patches};
  Packed<ChangeItem> changes{all, SectionKind::Changes};
  Rows<ReasonRow> reasons{all, SectionKind::Reasons};
  Section texts{all, SectionKind::Texts};
  Rows<IRRow> irs{all, SectionKind::IR};
  Section samples{all, SectionKind::Samples};
  Packed<LinkItem> links{all, SectionKind::Links};
  Rows<ContextRow> contexts{all, SectionKind::Contexts};
  Rows<FindingRow> findings{all, SectionKind::Findings};
  Packed<RegionsItem> regions{all, SectionKind::Regions};
  Rows<StageRow> stages{all, SectionKind::Stages};
  Packed<StageOperationItem> stageOperations{all, SectionKind::StageOperations};

  bool areEmpty() const {
    return std::ranges::all_of(all, [](Section *one) { return !one->count; });
  }
  size_t bytes() const {
    size_t sum = 0;
    for (Section *one : all)
      sum += one->bytes.size();
    return sum;
  }
  void clear() {
    for (Section *one : all)
      one->clear();
  }
};

} // namespace adbg
