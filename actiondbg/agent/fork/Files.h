//===- Files.h - Files of the tool on each timeline -------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"
#include "llvm/Support/Compiler.h"

namespace adbg {

/// The number of bytes written to stdout and stderr.
struct Written {
  uint64_t bytes[2] = {0, 0};
};

/// What a process before this one has written to stdout and stderr.
struct ShownOutput {
  Written written;
  /// The event up to which the process has written all output, whatever
  /// function wrote it. After this event, only write(2) and writev(2) count.
  uint64_t event = 0;
};

/// Output files of a fork; an empty path leaves that output unchanged.
struct Outputs {
  std::string standard[2];
  /// The path for the first of the other files open for writing; the others get
  /// a number appended.
  std::string others;
  bool isEmpty() const {
    return standard[0].empty() && standard[1].empty() && others.empty();
  }
};

/// The result of Files::settle.
struct SettledFiles {
  /// Paths of files that were removed, moved or replaced, and were made again.
  std::vector<std::string> remade;
  /// Sentences about files that could not be made again.
  std::vector<std::string> lost;
};

/// The regular files that a process of the tool has open, and their offsets
/// when the process was frozen. Forks share offsets: a write by one moves those
/// of all.
///
/// All processes of a run write to the same file, the one that has the name. A
/// checkpoint may be used only where the file begins with the output of its
/// timeline. A file that lost its name is made again when a process replaces
/// the tool, and the checkpoints follow.
class Files {
public:
  /// Notes the open files. Call it before forking a process.
  void note();
  /// Reopens the files at their offsets, so that no other process is affected.
  /// Leaves the descriptors in `shared` alone, which other processes use too.
  /// Writes to private copies of files that have lost their names and, on
  /// another timeline than the tool's, of all, until they settle.
  void reopen(ArrayRef<int> shared, bool isOtherTimeline);
  /// Truncates the files to the output of this timeline, and makes those again
  /// that have lost their names.
  SettledFiles settle();
  /// Opens files by name that another process has made again, in a process that
  /// was frozen before that.
  void follow(ArrayRef<std::string> remade);
  /// Redirects output to files of its own, which begin with the output so far.
  /// Returns false on failure.
  bool redirect(const Outputs &outputs);
  /// Discards all output from now on.
  static void discard();
  /// Suppresses the output on stdout and stderr that was shown, on those that
  /// could not be truncated.
  void mute(const ShownOutput &shown, ArrayRef<int> shared) const;
  static const Written &written();
  /// Notes that this process is a new fork. Unless it replaces the tool, it
  /// removes only files that it makes from now on.
  static void noteFork();
  /// Appends what this thread writes to stderr to a text instead; null ends
  /// it. The text must have room: nothing is allocated for it. Returns the text
  /// before.
  static std::string *captureErrors(std::string *text);
  /// Shows stderr again after an assertion that was shown before.
  /// Async-signal-safe.
  static void showErrors();
  static constexpr size_t keptErrors = 4096;
  /// Copies the newest bytes written to stderr, `keptErrors` at most, and
  /// returns their number. Async-signal-safe.
  static size_t lastErrors(char *to);

private:
  struct Open {
    int fd;
    int flags;
    dev_t device;
    ino_t inode;
    mode_t mode;
    off_t offset, size;
    /// The name that the tool gave it; empty for a file without any.
    std::string path;
    bool isOwn = false;
    /// The descriptor whose open file description it shares, or -1.
    int original = -1;
    void keep(const Open &old);
    bool isWritten() const;
    bool isNamed() const;
    bool isSameAs(const Open &other) const;
    /// Makes the descriptor refer to another file.
    void refer(int to);
    int reopen(bool isOtherTimeline) const;
    bool remake(off_t size);
  };
  const Open *find(int fd) const;
  bool sendTo(int fd, const std::string &path) const;

  std::vector<Open> open;
};

/// The streams of this process that lead nowhere, up to an event: a process
/// must not write again what the process that it replaces has written to a
/// terminal or a pipe. The C library and others write without write(2), so that
/// the descriptors themselves lead to /dev/null meanwhile.
class SilentStreams {
public:
  static constexpr uint64_t noEvent = std::numeric_limits<uint64_t>::max();
  /// Sends stdout, stderr or both nowhere until `event`, with the descriptors
  /// that are duplicates of them.
  static void begin(const bool (&streams)[2], uint64_t event);
  /// Shows the streams again if the run has got to their event.
  static void reach(uint64_t event) {
    if (LLVM_UNLIKELY(event >= until))
      end();
  }
  static void end();
  static bool areSilent();
  /// Returns a descriptor of the stream's own file: while stdout or stderr
  /// leads nowhere, the descriptor that is kept aside.
  static int shown(int fd);
  /// Returns the descriptor that a descriptor is kept for, or itself.
  static int keptFor(int fd);

private:
  static uint64_t until;
};

} // namespace adbg
