//===- RecordSettings.cpp - What is recorded ------------------------------===//

#include "record/RecordSettings.h"

namespace adbg {

RecordSettings
RecordSettings::read(function_ref<std::string(const char *)> variable) {
  RecordSettings given;
  given.path = variable("ACTIONDBG_RECORD");
  given.upstreamLog = variable("ACTIONDBG_UPSTREAM_LOG");
  given.ir = variable("ACTIONDBG_RECORD_IR");
  given.irOf = variable("ACTIONDBG_RECORD_IR_OF");
  given.events = variable("ACTIONDBG_RECORD_EVENTS");
  given.lineage = variable("ACTIONDBG_RECORD_LINEAGE");
  given.checks = variable("ACTIONDBG_RECORD_CHECKS");
  given.oneThread = variable("ACTIONDBG_RECORD_ONE_THREAD");
  given.reversed = variable("ACTIONDBG_RECORD_REVERSED");
  given.skips = variable("ACTIONDBG_RECORD_SKIPS");
  given.llvm = variable("ACTIONDBG_RECORD_LLVM");
  return given;
}

} // namespace adbg
