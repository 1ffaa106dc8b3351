//===- LogFile.h - Files that requests open and close -----------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

#include "llvm/Support/raw_ostream.h"

namespace adbg {

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
