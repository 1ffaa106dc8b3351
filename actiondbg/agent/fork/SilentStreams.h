//===- SilentStreams.h - stdout and stderr that lead nowhere ----*- C++ -*-===//
//
// What a process has written to a terminal or a pipe, the process that replaces
// it must not write again. The C library and others write without write(2), so
// that the descriptors themselves lead to /dev/null meanwhile.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/Support/Compiler.h"

namespace adbg {

/// The streams of this process that lead nowhere, up to an event.
class SilentStreams {
public:
  /// Sends stdout, stderr or both nowhere until `event`, with the descriptors
  /// that are duplicates of them.
  static void begin(const bool (&streams)[2], uint64_t event);
  /// Shows the streams again if the run has got to their event.
  static void reach(uint64_t event) {
    if (LLVM_UNLIKELY(event >= until))
      end();
  }
  static void end();
  static bool areSilent();
  /// Returns a descriptor of the stream's own file: while stdout or stderr
  /// leads nowhere, the descriptor that is kept aside.
  static int shown(int fd);
  /// Returns the descriptor that a descriptor is kept for, or itself.
  static int keptFor(int fd);

private:
  static uint64_t until;
};

} // namespace adbg
