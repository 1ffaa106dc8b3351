//===- ProcessTitle.h - The name of a process in ps -------------*- C++ -*-===//

#ifndef ACTIONDBG_PROCESSTITLE_H
#define ACTIONDBG_PROCESSTITLE_H

namespace adbg {

/// Shows this process in ps as a checkpoint, or as the tool again. What the
/// program itself reads, such as its arguments, stays as it is.
void titleAsCheckpoint(bool isCheckpoint);

} // namespace adbg

#endif // ACTIONDBG_PROCESSTITLE_H
