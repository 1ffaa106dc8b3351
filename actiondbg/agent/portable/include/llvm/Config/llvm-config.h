//===- llvm-config.h - The stand-in's version -------------------*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_CONFIG_H
#define ACTIONDBG_LLVM_CONFIG_H

// The version whose spelling of the API the agent is compiled for. The version
// of the tool is another matter, and known only at run time.
#define LLVM_VERSION_MAJOR 22
#define LLVM_VERSION_MINOR 0
#define LLVM_VERSION_PATCH 0
#define LLVM_VERSION_STRING "portable"
#define LLVM_ENABLE_THREADS 1

#endif // ACTIONDBG_LLVM_CONFIG_H
