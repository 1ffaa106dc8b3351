//===- Counters.h - Hardware counters of a thread ---------------*- C++ -*-===//
//
// Groups of perf_event_open(2) events, one group a thread. Nothing here
// allocates, locks or prints; a failure is returned as false.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// The counters of the thread that opens them; each thread needs its own. In a
/// fork they still read the parent's thread.
class Counters {
public:
  static constexpr unsigned most = 16;

  /// Configures the events that all threads count: "NAME=TYPE:CONFIG",
  /// comma-separated, with TYPE and CONFIG of perf_event_attr; a trailing ":u"
  /// excludes the kernel. Returns false, and counts nothing, if the text is
  /// malformed. Call it once, before any thread opens its counters.
  static bool configure(StringRef list);
  static unsigned size();
  /// Returns the name of a counter; it lives as long as the process.
  static StringRef name(unsigned index);

  Counters() = default;
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;
  ~Counters() { close(); }

  /// Starts counting for the calling thread, from 0. Returns false if no events
  /// are configured or the kernel refuses one.
  bool open();
  bool isOpen() const { return opened != 0; }
  /// Reads size() values with one system call. Returns false, and leaves
  /// `values` unchanged, if the counters are closed or no longer counting.
  bool read(uint64_t *values) const;
  void close();

private:
  bool add(unsigned index);

  int descriptors[most];
  unsigned opened = 0;
};

} // namespace adbg
