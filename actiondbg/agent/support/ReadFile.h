//===- ReadFile.h - Files as text -------------------------------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg {

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

} // namespace adbg
