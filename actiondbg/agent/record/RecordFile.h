//===- RecordFile.h - The file of a recording -------------------*- C++ -*-===//
//
// docs/recordings.md describes the format. Each thread has its own rows, names
// and numbers, and writes one chunk at a time with one system call: threads
// share only the file, and every written chunk is complete after a kill.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Location.h"
#include "support/Memo.h"

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
  PatternSets
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

// The items of sections, in file layout.
struct ActionRow {
  uint32_t start, duration, operation, name;
  uint16_t depth;
  uint8_t outcome, flags;
};
struct LocationRow {
  uint32_t id, file, line, column, text;
};
struct PatchRow {
  uint32_t row;
  uint8_t outcome, flags;
  uint16_t unused;
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
  uint32_t thread, row, kind, isGeneric;
  uint64_t text;
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

/// Creates a file for appending, on a descriptor above those that a tool may
/// rely on. Returns a negative number on failure.
int openFar(const char *path, int flags);

/// The memory that holds the items of a section.
struct Part {
  SectionKind kind;
  /// Size of an item in bytes; 0 if it varies.
  uint16_t size;
  uint32_t count;
  const void *from;
  size_t bytes;
};

/// Buffered items of one section.
struct Section {
  SectionKind kind;
  uint16_t size;
  uint32_t count = 0;
  SmallVector<char, 0> bytes = {};

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
  void clear() {
    count = 0;
    bytes.clear();
  }
  Part part() const { return {kind, size, count, bytes.data(), bytes.size()}; }
};

/// The header of a chunk, see docs/recordings.md.
struct ChunkHeader {
  char magic[4] = {'A', 'D', 'B', 'C'};
  uint32_t thread = 0, bytes = 0, sections = 0;
  uint64_t checksum = 0, firstRow = 0, ticks = 0, nanoseconds = 0, base = 0,
           unused = 0;
};

/// Items of numbers that are usually close to those of the previous item: each
/// number is LEB128-encoded, some as the zigzag-coded difference to the
/// previous one.
struct PackedSection : Section {
  explicit PackedSection(SectionKind kind) : Section{kind, 0} {
    bytes.reserve(1 << 16);
  }

  /// Adds an item: numbers encoded as differences, then plain numbers.
  template <size_t many, size_t others>
  void pack(const int64_t (&near)[many], const uint64_t (&far)[others]) {
    packAll(near, far, std::make_index_sequence<many>(),
            std::make_index_sequence<others>());
  }
  void dropLast();
  /// Clears the section and resets the previous item to zeros.
  void restart() {
    clear();
    now = Before();
  }
  static int64_t zigzag(int64_t value) { return value << 1 ^ value >> 63; }

private:
  // Unrolled by a fold expression: compilers do not unroll the loop.
  template <size_t... nearOnes, size_t... farOnes>
  void packAll(const int64_t *near, const uint64_t *far,
               std::index_sequence<nearOnes...>,
               std::index_sequence<farOnes...>) {
    constexpr size_t most = 10 * (sizeof...(nearOnes) + sizeof...(farOnes));
    size_t size = bytes.size();
    if (LLVM_UNLIKELY(bytes.capacity() < size + most))
      bytes.reserve(size + most);
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
    int64_t numbers[4] = {};
    size_t bytes = 0;
  };
  Before now, before;
};

/// The recording's file; a process has one.
class RecordFile {
public:
  /// Whether this process has locked the file already: of one process of a
  /// program, see claimRecording.
  static inline bool isClaimed = false;
  /// Creates the file, locks it for the life of this process, and writes
  /// `header`; returns false on failure.
  static bool begin(const char *path, StringRef header);
  static bool isOpen() { return fd >= 0; }
  /// Stops writing: this process is a fork of the tool.
  static void abandon() { fd = -1; }
  /// Stops writing: the recording is complete.
  static void end();
  /// The size of the file now, to which `cutTo` sets it back.
  static off_t size();
  static void cutTo(off_t size);
  /// The number of recordings begun so far: rows of an earlier one do not
  /// belong into the file.
  static unsigned count() { return begun; }
  /// The file's descriptor; `resume` continues writing in a fork.
  static int descriptor() { return fd; }
  static void resume(int descriptor) { fd = descriptor; }
  /// Cuts off a chunk at the end that is not complete: its writer was killed.
  static void dropTornChunk();
  /// Stops writing, and calls `stopped`, once a file of this path exists.
  static void stopAt(std::string path, void (*stopped)());
  /// Writes a chunk. Allocates nothing and is async-signal-safe.
  static void write(ChunkHeader header, ArrayRef<Part> parts);

  /// Clock ticks in one time unit of the file.
  static constexpr int64_t unit = 8;

private:
  /// Whether the descriptor still leads to the recording: the tool may close
  /// all descriptors, or use their numbers for its own files.
  static bool isOwn();
  /// Opens the recording again. Returns false if its file was removed.
  static bool reopen();

  static inline volatile int fd = -1;
  static inline unsigned begun = 0;
  /// The file whose existence stops the recording; null for none.
  static inline const char *limit = nullptr;
  static inline void (*onLimit)() = nullptr;
  /// The descriptor of the previous recording, which leads nowhere now.
  static inline int ended = -1;
};

/// The strings of a thread. Each has a number in its space. Bounded: a space
/// that is full is cleared, and the same strings get new numbers.
class Strings {
public:
  /// Returns the number of a text; writes the text if it is new.
  uint32_t of(Space space, StringRef text);
  /// Returns the row of a location, whose texts are written, but for what is
  /// behind `most` characters.
  LocationRow rowOf(Location location, uint32_t id, size_t most);

  Section section{SectionKind::Strings, 0};

private:
  static constexpr size_t most = 1 << 16;
  struct {
    uint32_t last = 0;
    std::unordered_map<uint64_t, uint32_t> byHash;
  } known[spaces];
  Memo<uint32_t> files;
};

} // namespace adbg
