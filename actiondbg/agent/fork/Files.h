//===- Files.h - What the tool writes, on which timeline --------*- C++ -*-===//

#ifndef ACTIONDBG_FILES_H
#define ACTIONDBG_FILES_H

#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace adbg {

/// How many bytes were written to stdout and stderr.
struct Written {
  uint64_t bytes[2] = {0, 0};
};

/// Where the output of a fork goes; what is empty stays as it is.
struct Outputs {
  std::string standard[2];
  /// Of the other files that are open for writing: the first one; the others
  /// have a number appended.
  std::string others;
  bool isEmpty() const {
    return standard[0].empty() && standard[1].empty() && others.empty();
  }
};

/// The regular files that a process of the tool has open, and how far they were
/// written when the process was frozen. Forks share offsets: what one of them
/// writes moves those of all.
class Files {
public:
  /// Notes them. To be called before a process is forked.
  void note();
  /// Opens them anew, each where it was, so that no other process is moved.
  /// Nothing is done to the descriptors of `shared`, which are somebody else's,
  /// too.
  void reopen(llvm::ArrayRef<int> shared);
  /// Cuts them back to what was written on this timeline, and makes those again
  /// that have been removed since.
  void settle();
  /// Sends output to files of its own, which begin with what was noted.
  /// Returns whether that could be done.
  bool redirect(const Outputs &outputs);
  /// Throws all output away from now on.
  static void discard();
  /// Says nothing on stdout and stderr until so much has been written, on those
  /// that could not be cut back.
  void mute(const Written &shown, llvm::ArrayRef<int> shared) const;
  static const Written &written();

private:
  struct Open {
    int fd;
    int flags;
    dev_t device;
    ino_t inode;
    off_t offset, size;
    std::string path;
    bool isOwn = false;
    void keep(const Open &old);
    bool isWritten() const;
    bool isSameAs(const Open &other) const;
  };
  const Open *find(int fd) const;
  static void remake(const Open &file, off_t size, mode_t mode);
  bool sendTo(int fd, const std::string &path) const;

  std::vector<Open> open;
};

} // namespace adbg

#endif // ACTIONDBG_FILES_H
