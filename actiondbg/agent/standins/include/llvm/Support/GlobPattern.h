//===- GlobPattern.h - Patterns of names ------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <bitset>

namespace llvm {

/// `*` is any text, `?` a character, `[a-z]` and `[!a-z]` one of a set, `\` the
/// next character itself. Braces stand for themselves.
class GlobPattern {
  /// The characters that may stand at one place; any text before it.
  struct Place {
    std::bitset<256> allowed;
    bool isAfterStar = false;
  };
  std::vector<Place> places;
  bool endsWithStar = false;

public:
  bool parse(StringRef pattern, std::string &error);
  bool match(StringRef text) const;
};

} // namespace llvm
