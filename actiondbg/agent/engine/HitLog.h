//===- HitLog.h - Hits that are logged --------------------------*- C++ -*-===//

#ifndef ACTIONDBG_HITLOG_H
#define ACTIONDBG_HITLOG_H

#include "engine/Notice.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <system_error>

namespace adbg {

class StopLoop;

/// The file of breakpoints that log their hits instead of stopping: a line of
/// JSON a hit, which has the fields of a stop.
class HitLog {
public:
  explicit HitLog(StopLoop &stops) : stops(stops) {}

  std::error_code open(const std::string &path);
  bool isOpen() const { return file != nullptr; }
  /// Returns whether all was written.
  bool close();
  void flush();
  /// In a fork: its parent writes what the buffer holds, so it is leaked here.
  void abandon() { abandoned = file.release(); }
  void write(Frame &frame, const Notice &notice);

private:
  StopLoop &stops;
  std::unique_ptr<llvm::raw_fd_ostream> file;
  llvm::raw_fd_ostream *abandoned = nullptr;
};

} // namespace adbg

#endif // ACTIONDBG_HITLOG_H
