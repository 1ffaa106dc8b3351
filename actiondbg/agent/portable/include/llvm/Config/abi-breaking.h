//===- abi-breaking.h - Checks that change layouts --------------*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_ABIBREAKING_H
#define ACTIONDBG_LLVM_ABIBREAKING_H

#define LLVM_ENABLE_ABI_BREAKING_CHECKS 0

#endif // ACTIONDBG_LLVM_ABIBREAKING_H
