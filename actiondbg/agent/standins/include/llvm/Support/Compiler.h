//===- Compiler.h - Attributes of functions and branches --------*- C++ -*-===//

#pragma once

#define LLVM_ABI
#define LLVM_LIKELY(x) __builtin_expect(static_cast<bool>(x), true)
#define LLVM_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), false)
#define LLVM_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline)) inline
#define LLVM_ATTRIBUTE_NOINLINE __attribute__((noinline))
#define LLVM_ATTRIBUTE_COLD __attribute__((cold))
#define LLVM_ATTRIBUTE_UNUSED [[maybe_unused]]
#define LLVM_ATTRIBUTE_NORETURN [[noreturn]]
#define LLVM_ATTRIBUTE_WEAK __attribute__((weak))
#define LLVM_ATTRIBUTE_USED __attribute__((used))
#define LLVM_PREFETCH(address, isWrite, locality)                              \
  __builtin_prefetch(address, isWrite, locality)
#define LLVM_BUILTIN_UNREACHABLE __builtin_unreachable()
