//===- HitLog.h - Logged hits -----------------------------------*- C++ -*-===//

#pragma once

#include "engine/Notice.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <system_error>

namespace adbg {

class StopLoop;

/// The log file of breakpoints that log their hits instead of stopping: one
/// line of JSON a hit, with the fields of a stop and the time of the action.
class HitLog {
public:
  explicit HitLog(StopLoop &stops) : stops(stops) {}

  /// `neighbourhoods`: describe what is around the operation of an action that
  /// has not begun.
  std::error_code open(const std::string &path, bool neighbourhoods);
  bool isOpen() const { return file != nullptr; }
  /// Closes the file; returns false if a write failed.
  bool close();
  void flush();
  /// Drops the file in a fork. It is leaked: the parent writes the buffered
  /// data.
  void abandon() { abandoned = file.release(); }
  /// `withChanges`: describe the changes of the action, which takes longer than
  /// all the rest.
  void write(Frame &frame, const Notice &notice, bool withChanges);

private:
  StopLoop &stops;
  std::unique_ptr<raw_fd_ostream> file;
  raw_fd_ostream *abandoned = nullptr;
  bool neighbourhoods = false;
};

} // namespace adbg
