//===- HitLog.cpp - Logged hits -------------------------------------------===//

#include "engine/HitLog.h"
#include "engine/StopLoop.h"

namespace adbg {

std::error_code HitLog::open(const std::string &path, bool around) {
  neighbourhoods = around;
  return LogFile::open(path);
}

void HitLog::write(Frame &frame, const Notice &notice, bool withChanges) {
  if (file)
    stops.log(frame, notice, withChanges, neighbourhoods, *file);
}

} // namespace adbg
