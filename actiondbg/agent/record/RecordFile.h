//===- RecordFile.h - The file of a recording -------------------*- C++ -*-===//
//
// docs/recordings.md describes the format. Each thread has its own rows, names
// and numbers, and writes one chunk at a time with one system call: threads
// share only the file, and every written chunk is complete after a kill.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Location.h"
#include "record/Sections.h"
#include "support/Memo.h"

namespace adbg {

/// Creates a file for appending, on a descriptor above those that a tool may
/// rely on. Returns a negative number on failure.
int openFar(const char *path, int flags);

/// The header of a chunk, see docs/recordings.md.
struct ChunkHeader {
  char magic[4] = {'A', 'D', 'B', 'C'};
  uint32_t thread = 0, bytes = 0, sections = 0;
  uint64_t checksum = 0, firstRow = 0, ticks = 0, nanoseconds = 0, base = 0,
           unused = 0;
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
  /// Writes a chunk: a part, then sections. Empty sections are left out.
  /// Allocates nothing and is async-signal-safe.
  static void write(ChunkHeader header, const Part &first,
                    ArrayRef<Section *> others = {});

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
  explicit Strings(Section &section) : section(section) {}
  /// Returns the number of a text; writes the text if it is new.
  uint32_t of(Space space, StringRef text);
  /// Returns the row of a location, whose texts are written, but for what is
  /// behind `most` characters.
  LocationRow rowOf(Location location, uint32_t id, size_t most);

private:
  Section &section;
  static constexpr size_t most = 1 << 16;
  struct {
    uint32_t last = 0;
    std::unordered_map<uint64_t, uint32_t> byHash;
  } known[spaces];
  Memo<uint32_t> files;
};

} // namespace adbg
