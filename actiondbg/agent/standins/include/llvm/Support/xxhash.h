//===- xxhash.h - Hashes of text --------------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"

namespace llvm {

uint64_t xxh3_64bits(StringRef text);

} // namespace llvm
