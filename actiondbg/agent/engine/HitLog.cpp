//===- HitLog.cpp - Logged hits -------------------------------------------===//

#include "engine/HitLog.h"
#include "engine/StopLoop.h"

namespace adbg {

std::error_code HitLog::open(const std::string &path, bool around) {
  std::error_code error;
  auto opened = std::make_unique<raw_fd_ostream>(path, error);
  if (!error)
    file = std::move(opened);
  neighbourhoods = around;
  return error;
}

bool HitLog::close() {
  file->flush();
  bool isWritten = !file->has_error();
  file->clear_error();
  file.reset();
  return isWritten;
}

void HitLog::flush() {
  if (file)
    file->flush();
}

void HitLog::write(Frame &frame, const Notice &notice, bool withChanges) {
  if (file)
    stops.log(frame, notice, withChanges, neighbourhoods, *file);
}

} // namespace adbg
