//===- FileSystem.h - Ways to open a file -----------------------*- C++ -*-===//

#pragma once

namespace llvm::sys::fs {

enum OpenFlags : unsigned { OF_None = 0, OF_Append = 4 };

} // namespace llvm::sys::fs
