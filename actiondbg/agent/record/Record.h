//===- Record.h - The file that a recording is written to -------*- C++ -*-===//
//
// docs/recordings.md describes the format. Each thread has its own rows, names
// and numbers, and writes a chunk of them at a time, by one call: threads meet
// nowhere but in the file, and what was written is whole after a kill.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_RECORD_H
#define ACTIONDBG_RECORD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <sys/uio.h>

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
  End
};

/// What strings are about.
enum class Space : uint16_t {
  Action = 1,
  Operation,
  File,
  Function,
  Reason,
  Location
};
constexpr unsigned spaces = 7;

// The items of sections, as they are in the file.
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
struct IRRow {
  uint32_t row, operation;
  uint64_t before, after;
};

/// Opens a file to append to, which is made anew, far from the descriptors that
/// a tool may count on; returns a negative number if that is not possible.
int openFar(const char *path);

/// Where the items of a section are in memory.
struct Part {
  SectionKind kind;
  /// Bytes of an item; 0 if they differ.
  uint16_t size;
  uint32_t count;
  const void *from;
  size_t bytes;
};

/// Items that wait to be written as a section.
struct Section {
  SectionKind kind;
  uint16_t size;
  uint32_t count = 0;
  llvm::SmallVector<char, 0> bytes = {};

  void append(const void *from, size_t many) {
    const char *first = static_cast<const char *>(from);
    bytes.append(first, first + many);
  }
  template <typename Row> void add(const Row &row) {
    ++count;
    append(&row, sizeof(Row));
  }
  /// Fills up with zeros to a multiple of `to`.
  void pad(size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); }
  void clear() {
    count = 0;
    bytes.clear();
  }
  Part part() const { return {kind, size, count, bytes.data(), bytes.size()}; }
};

/// Where a chunk stands: see docs/recordings.md.
struct ChunkHeader {
  char magic[4] = {'A', 'D', 'B', 'C'};
  uint32_t thread = 0, bytes = 0, sections = 0;
  uint64_t checksum = 0, firstRow = 0, ticks = 0, nanoseconds = 0, base = 0,
           unused = 0;
};

/// Items of numbers that are mostly near those of the item before: each number
/// is written in as few bytes as it needs (LEB128), and some as the difference
/// to the one before, zigzag coded.
struct PackedSection : Section {
  explicit PackedSection(SectionKind kind) : Section{kind, 0} {
    bytes.reserve(1 << 16);
  }

  /// Adds an item: numbers that are written as differences, and others.
  template <size_t many, size_t others>
  void pack(const int64_t (&near)[many], const uint64_t (&far)[others]) {
    packAll(near, far, std::make_index_sequence<many>(),
            std::make_index_sequence<others>());
  }
  void dropLast();
  /// Clears it, and begins with no item before.
  void restart() {
    clear();
    now = Before();
  }
  static int64_t zigzag(int64_t value) { return value << 1 ^ value >> 63; }

private:
  // Without a loop over the numbers: compilers do not unroll it.
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

/// The file, of which a process has one.
class RecordFile {
public:
  /// Opens it, and begins it with `header`; returns whether that was possible.
  static bool begin(const char *path, llvm::StringRef header);
  static bool isOpen() { return fd >= 0; }
  /// Nothing is written from now on.
  static void abandon() { fd = -1; }
  /// Writes a chunk. Takes no memory, and may be called in a signal handler.
  static void write(ChunkHeader header, llvm::ArrayRef<Part> parts);

  /// Ticks that are one unit of time in the file.
  static constexpr int64_t unit = 8;

private:
  static volatile int fd;
};

/// The numbers of the strings of one space, in one thread. Bounded: after very
/// many it forgets, and numbers the same string anew.
class Dictionary {
public:
  explicit Dictionary(Space space) : space(space) {}
  /// Returns the number of a text, which is written if it is new.
  uint32_t of(llvm::StringRef text, Section &strings);

private:
  static constexpr size_t most = 1 << 16;
  Space space;
  uint32_t last = 0;
  llvm::DenseMap<uint64_t, uint32_t> byHash;
};

} // namespace adbg

#endif // ACTIONDBG_RECORD_H
