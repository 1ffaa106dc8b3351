//===- Counters.h - What the kernel counts for a thread ---------*- C++ -*-===//
//
// Events of perf_event_open(2), as many as fit, of one thread each. Nothing
// here allocates, locks or prints: what cannot be counted is told by a false.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_COUNTERS_H
#define ACTIONDBG_COUNTERS_H

#include "llvm/ADT/StringRef.h"

namespace adbg {

/// The counters of the thread that opens them; a thread needs its own. A fork
/// that reads them reads those of the thread that it was forked from.
class Counters {
public:
  static constexpr unsigned most = 16;

  /// Says what all threads count: "NAME=TYPE:CONFIG" with commas between, and
  /// ":u" at the end of one that leaves the kernel out; TYPE and CONFIG are
  /// those of perf_event_attr. Returns whether the text is one; if it is not,
  /// nothing is counted. To be called once, before any is opened.
  static bool configure(llvm::StringRef list);
  static unsigned size();
  /// The name of one, which lives as long as the process.
  static llvm::StringRef name(unsigned index);

  Counters() = default;
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;
  ~Counters() { close(); }

  /// Begins to count for the calling thread, from 0. Returns false if nothing
  /// is configured, or the kernel refuses one.
  bool open();
  bool isOpen() const { return opened != 0; }
  /// Reads size() values, all with one call. Returns false, and leaves them as
  /// they are, if they are not open or are not counted any more.
  bool read(uint64_t *values) const;
  void close();

private:
  bool add(unsigned index);

  int descriptors[most];
  unsigned opened = 0;
};

} // namespace adbg

#endif // ACTIONDBG_COUNTERS_H
