//===- MappedFile.h - The bytes of a file -----------------------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg::detour {

/// Whose files are trusted.
enum class Writers { Anybody, ThisUser };

/// A file, mapped for reading while this exists; empty if that fails.
class MappedFile {
public:
  /// With `ThisUser`, a file is as good as missing that others than this user
  /// and root may have written.
  explicit MappedFile(const char *path, Writers writers = Writers::Anybody) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return;
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size > 0 &&
        (writers == Writers::Anybody || isPrivate(status))) {
      void *mapped =
          mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (mapped != MAP_FAILED) {
        bytes = static_cast<const char *>(mapped);
        size = status.st_size;
      }
    }
    close(fd);
  }
  ~MappedFile() {
    if (bytes)
      munmap(const_cast<char *>(bytes), size);
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  /// Returns `count` objects at an offset; null if the file ends before.
  template <typename T> const T *at(uint64_t offset, uint64_t count = 1) const {
    if (offset > size || count > (size - offset) / sizeof(T))
      return nullptr;
    return reinterpret_cast<const T *>(bytes + offset);
  }
  std::string_view text() const { return {bytes, size}; }
  /// Asks for a part to be read ahead: one that will be read from its begin.
  void willRead(uint64_t offset, uint64_t count) const {
    uint64_t page = offset & ~uint64_t(4095);
    if (offset < size)
      madvise(const_cast<char *>(bytes) + page, count + offset - page,
              MADV_WILLNEED);
  }

private:
  static bool isPrivate(const struct stat &status) {
    return S_ISREG(status.st_mode) &&
           (status.st_uid == 0 || status.st_uid == geteuid()) &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
  }

  const char *bytes = nullptr;
  size_t size = 0;
};

} // namespace adbg::detour
