//===- Glob.h - Globs for names ---------------------------------*- C++ -*-===//

#pragma once

#include "support/Fields.h"
#include "support/Memo.h"
#include "llvm/Support/GlobPattern.h"

namespace adbg {

/// A glob with a cache of its matches. The names given to it must be owned by
/// MLIR, except for `matchesNow`.
class Glob {
public:
  static std::optional<Glob> create(StringRef text, std::string &error);
  /// Reads a field that may be absent or empty.
  static std::optional<Glob> parse(Fields &fields, StringRef key);

  bool matchesNow(StringRef text) const;
  /// Matches the text unchanged.
  bool matches(StringRef text);
  /// Matches a C++ name: whole, without the anonymous namespace, or its last
  /// component.
  bool matchesName(StringRef name);

private:
  std::string text;
  llvm::GlobPattern pattern;
  Memo<bool> known, knownNames;
};

} // namespace adbg
