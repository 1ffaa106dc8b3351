//===- ProgramCounter.h - Where a signal came -------------------*- C++ -*-===//

#pragma once

#include <ucontext.h>

namespace adbg {

/// Returns the address of the instruction at which a signal came; null where
/// that is unknown.
inline void *programCounter(const ucontext_t &context) {
#if defined(__x86_64__)
  return reinterpret_cast<void *>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void *>(context.uc_mcontext.pc);
#else
  return nullptr;
#endif
}

} // namespace adbg
