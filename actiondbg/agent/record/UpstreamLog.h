//===- UpstreamLog.h - The log of --log-actions-to --------------*- C++ -*-===//
//
// The lines are those of mlir/lib/Debug/Observers/ActionLogging.cpp, byte for
// byte, in tools that lack the flag, too. Folds, which upstream has no action
// for, are not in it.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_UPSTREAMLOG_H
#define ACTIONDBG_UPSTREAMLOG_H

#include "engine/Frame.h"

namespace adbg {

/// The file, of which a process has one. Each line is written by one call: so
/// threads meet nowhere but in the file, and nothing is lost in a crash.
class UpstreamLog {
public:
  /// Begins the file; returns whether that was possible.
  static bool start(const char *path);
  static bool isOn() { return fd >= 0; }
  /// Nothing is written from now on: this is a fork of the tool.
  static void abandon() { fd = -1; }
  /// To be called by whoever hears that this thread changed IR.
  static void changed() { ++generation; }

  /// Writes that an action begins, and at the end of the scope that it is
  /// completed. To stand around the run of the action, inside of which
  /// `frame.returned` is found out.
  class Entry {
  public:
    explicit Entry(const Frame &frame) : frame(frame) {
      if (LLVM_UNLIKELY(isOn()))
        begin();
    }
    ~Entry() {
      if (LLVM_UNLIKELY(isOn()))
        end();
    }

  private:
    void begin();
    void end();
    const Frame &frame;
  };

private:
  static void write(llvm::StringRef line);

  static volatile int fd;
  static __thread uint64_t generation;
};

} // namespace adbg

#endif // ACTIONDBG_UPSTREAMLOG_H
