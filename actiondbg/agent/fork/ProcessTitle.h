//===- ProcessTitle.h - The name of a process in ps -------------*- C++ -*-===//

#pragma once

namespace adbg {

/// Shows this process in ps as a checkpoint, or as the tool again. What the
/// program itself reads, such as its arguments, stays as it is.
void titleAsCheckpoint(bool isCheckpoint);

} // namespace adbg
