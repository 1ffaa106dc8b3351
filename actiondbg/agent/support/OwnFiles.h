//===- OwnFiles.h - Files that the agent reads and writes -------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// While it exists, a write of this thread over the tool's limit of file sizes,
/// as `ulimit -f` sets it, fails: the signal that comes with it, which ends a
/// process, is taken away. For files of the agent's own.
class FileLimit {
public:
  FileLimit() {
    struct rlimit limit;
    isThere =
        getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (!isThere)
      return;
    sigset_t pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    isPending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
  }
  ~FileLimit() {
    if (!isThere)
      return;
    int error = errno;
    constexpr struct timespec atOnce{};
    if (!isPending)
      sigtimedwait(&signals, nullptr, &atOnce);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
  }
  FileLimit(const FileLimit &) = delete;
  FileLimit &operator=(const FileLimit &) = delete;

private:
  sigset_t signals, before;
  bool isThere, isPending = false;
};

/// Returns the text of a file whose size need not be known before; none if it
/// cannot be read, and then `errno` is set.
inline std::optional<std::string> readFile(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  std::string text;
  char chunk[16384];
  ssize_t size;
  while ((size = read(fd, chunk, sizeof(chunk))) > 0 ||
         (size < 0 && errno == EINTR))
    text.append(chunk, size > 0 ? size : 0);
  int error = errno;
  close(fd);
  errno = error;
  return size < 0 ? std::nullopt : std::optional(std::move(text));
}

/// Returns where a symbolic link leads; empty if that is unknown.
inline std::string readLink(const std::string &path) {
  char target[PATH_MAX];
  ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return {target, size_t(std::max<ssize_t>(size, 0))};
}

/// A file that requests open and close.
class LogFile {
public:
  std::error_code open(const std::string &path) {
    std::error_code error;
    auto opened = std::make_unique<raw_fd_ostream>(path, error);
    if (!error)
      file = std::move(opened);
    return error;
  }
  bool isOpen() const { return file != nullptr; }
  raw_fd_ostream &operator*() { return *file; }
  /// Closes the file; returns false if a write failed.
  bool close() {
    file->flush();
    bool isWritten = !file->has_error();
    file->clear_error();
    file.reset();
    return isWritten;
  }
  void flush() {
    if (file)
      file->flush();
  }
  /// Drops the file in a fork. It is leaked: the parent writes the buffered
  /// data.
  void abandon() { abandoned = file.release(); }

private:
  std::unique_ptr<raw_fd_ostream> file;
  raw_fd_ostream *abandoned = nullptr;
};

} // namespace adbg
