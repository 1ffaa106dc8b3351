//===- Compiler.h - Attributes of functions and branches --------*- C++ -*-===//

#pragma once

#include "support/System.h"

#define LLVM_LIKELY(x) __builtin_expect(static_cast<bool>(x), true)
#define LLVM_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), false)
#define LLVM_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline)) inline
#define LLVM_ATTRIBUTE_NOINLINE __attribute__((noinline))
