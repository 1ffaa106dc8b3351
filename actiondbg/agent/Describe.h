//===- Describe.h - Actions and IR as JSON ----------------------*- C++ -*-===//

#ifndef ACTIONDBG_DESCRIBE_H
#define ACTIONDBG_DESCRIBE_H

#include "Frame.h"
#include "Match.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace adbg {

llvm::json::Object hello(int pid);
llvm::json::Object describeStop(const Frame &frame, llvm::StringRef reason,
                                llvm::ArrayRef<int> hit);
llvm::json::Object describeCrash(const Frame *innermost);
llvm::json::Array describeHits(llvm::ArrayRef<Breakpoint> breakpoints);
llvm::json::Object describeFrame(const Frame &frame, int64_t index);
llvm::json::Object describeAction(const Frame &frame, int64_t index);
llvm::json::Object describeUnit(const mlir::IRUnit &unit);
llvm::json::Array describeUnits(const Frame &frame);

/// Returns FILE:LINE:COL of the first place in a file inside `loc`.
std::optional<std::string> placeText(mlir::Location loc);

/// Whether the line is the notification that interrupts.
bool isInterrupt(llvm::StringRef line);
/// Returns the answer to a request that came while the tool was running.
std::optional<llvm::json::Value> refusal(llvm::StringRef line);

/// Whether `op`, not what is in it, can be printed in its custom form.
bool isPrintable(mlir::Operation *op);

} // namespace adbg

#endif // ACTIONDBG_DESCRIBE_H
