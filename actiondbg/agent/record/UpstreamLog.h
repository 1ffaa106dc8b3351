//===- UpstreamLog.h - The log of --log-actions-to --------------*- C++ -*-===//
//
// The lines are those of mlir/lib/Debug/Observers/ActionLogging.cpp, byte for
// byte, also in tools that lack the flag. Folds are not in the log: upstream
// has no action for them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "engine/Frame.h"

namespace adbg {

/// The log file; a process has one. Each line is written with one system call:
/// threads share only the file, and a crash loses nothing.
class UpstreamLog {
public:
  /// Creates the file; returns false on failure.
  static bool start(const char *path);
  static bool isOn() { return fd >= 0; }
  /// Stops writing: this process is a fork of the tool.
  static void abandon() { fd = -1; }
  /// Called at each change of IR by this thread.
  static void changed() { ++generation; }

  /// Logs the beginning of an action, and at the end of the scope its
  /// completion. Place it around the run of the action, during which
  /// `frame.returned` is set.
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
  static void write(StringRef line);

  static inline volatile int fd = -1;
  static inline __thread uint64_t generation = 0;
};

} // namespace adbg
