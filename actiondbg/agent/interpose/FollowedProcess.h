//===- FollowedProcess.h - Which process of a program it is -----*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace adbg {

/// Whether this process is one to follow: the glob matches the name of its
/// executable or a word of its command line, without the directory.
bool isFollowed(llvm::StringRef glob);

/// Returns the file for the recording of this process: `path`, or if another
/// process of the program records there, `path` with `.p1`, `.p2`... before its
/// extension. Empty if none can be made.
std::string claimRecording(const std::string &path);

} // namespace adbg
