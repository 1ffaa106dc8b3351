//===- Threading.h - The names of threads -----------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/SmallString.h"
#include <cstdint>

namespace llvm {

/// The number of this thread in the system.
uint64_t get_threadid();
void get_thread_name(SmallVectorImpl<char> &name);

} // namespace llvm
