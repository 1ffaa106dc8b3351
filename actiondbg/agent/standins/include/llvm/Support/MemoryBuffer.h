//===- MemoryBuffer.h - Files that were read --------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorOr.h"
#include <memory>

namespace llvm {

class MemoryBuffer {
  std::string text;

public:
  explicit MemoryBuffer(std::string text) : text(std::move(text)) {}

  /// Reads a file whose size need not be known before.
  static ErrorOr<std::unique_ptr<MemoryBuffer>>
  getFileAsStream(const Twine &path);

  static ErrorOr<std::unique_ptr<MemoryBuffer>> getFile(const Twine &path) {
    return getFileAsStream(path);
  }

  StringRef getBuffer() const { return text; }
};

} // namespace llvm
