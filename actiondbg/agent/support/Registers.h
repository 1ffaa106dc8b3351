//===- Registers.h - What registers tell of a signal, a jump ----*- C++ -*-===//

#pragma once

#include "support/System.h"
#include <csetjmp>
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

/// Returns the stack pointer to which a jump leads; 0 if it is unknown. The C
/// library keeps it in a form that only the process itself can decode.
inline uintptr_t stackAfter(const __jmp_buf_tag *buffer) {
#if defined(__x86_64__) && defined(__GLIBC__)
  constexpr int stackPointer = 6, bits = 17;
  auto kept = static_cast<uintptr_t>(buffer->__jmpbuf[stackPointer]);
  uintptr_t guard;
  __asm__("mov %%fs:0x30, %0" : "=r"(guard));
  return ((kept >> bits) | (kept << (64 - bits))) ^ guard;
#elif defined(__aarch64__) && defined(__GLIBC__)
  // The guard is private to the C library, but the same in each buffer; here
  // the stack pointer is known.
  constexpr int stackPointer = 13;
  jmp_buf here;
  uintptr_t stack;
  _setjmp(here);
  __asm__("mov %0, sp" : "=r"(stack));
  uintptr_t guard = here->__jmpbuf[stackPointer] ^ stack;
  return buffer->__jmpbuf[stackPointer] ^ guard;
#else
  (void)buffer;
  return 0;
#endif
}

} // namespace adbg
