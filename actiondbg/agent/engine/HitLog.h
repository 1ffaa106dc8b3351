//===- HitLog.h - Logged hits -----------------------------------*- C++ -*-===//

#pragma once

#include "engine/Notice.h"
#include "support/LogFile.h"

namespace adbg {

class StopLoop;

/// The log file of breakpoints that log their hits instead of stopping: one
/// line of JSON a hit, with the fields of a stop and the time of the action.
class HitLog : public LogFile {
public:
  explicit HitLog(StopLoop &stops) : stops(stops) {}

  /// `neighbourhoods`: describe what is around the operation of an action that
  /// has not begun.
  std::error_code open(const std::string &path, bool neighbourhoods);
  /// `withChanges`: describe the changes of the action, which takes longer than
  /// all the rest.
  void write(Frame &frame, const Notice &notice, bool withChanges);

private:
  StopLoop &stops;
  bool neighbourhoods = false;
};

} // namespace adbg
