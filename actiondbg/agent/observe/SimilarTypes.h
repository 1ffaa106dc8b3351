//===- SimilarTypes.h - Types that differ a little --------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace adbg {

/// A type, as text, and how it differs.
struct SimilarType {
  const char *how;
  std::string text;
};

/// Returns types that are like a type of the builtin dialect. Some may not be
/// valid, such as memref<4xtuple<>>. Of other dialects there are no such types.
std::vector<SimilarType> similarTypes(llvm::StringRef type);

} // namespace adbg
