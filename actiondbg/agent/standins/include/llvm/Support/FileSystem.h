//===- FileSystem.h - Ways to open a file -----------------------*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_FILESYSTEM_H
#define ACTIONDBG_LLVM_FILESYSTEM_H

namespace llvm::sys::fs {

enum OpenFlags : unsigned { OF_None = 0, OF_Append = 4 };

} // namespace llvm::sys::fs

#endif // ACTIONDBG_LLVM_FILESYSTEM_H
