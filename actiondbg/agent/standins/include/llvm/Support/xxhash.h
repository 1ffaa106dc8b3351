//===- xxhash.h - Hashes of text --------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_XXHASH_H
#define ACTIONDBG_LLVM_XXHASH_H

#include "llvm/ADT/StringRef.h"

namespace llvm {

uint64_t xxh3_64bits(StringRef text);

} // namespace llvm

#endif // ACTIONDBG_LLVM_XXHASH_H
