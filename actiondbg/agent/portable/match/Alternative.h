//===- Alternative.h - No alternatives without MLIR's headers ---*- C++ -*-===//
//
// Replaces match/Alternative.h in the portable agent: an alternative changes
// benefits inside MLIR's classes and runs pipelines of passes.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_ALTERNATIVE_H
#define ACTIONDBG_PORTABLE_ALTERNATIVE_H

#include "engine/Frame.h"
#include "match/Glob.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

class Engine;

class Alternative {
public:
  bool isRunning() const { return false; }
  void run(Engine &, Frame &frame, llvm::function_ref<void()> run) {
    if (!frame.skipped)
      run();
  }
  void setBenefit(const mlir::Pattern &) {}
  llvm::LogicalResult append(mlir::Operation *) { return llvm::success(); }
  void note(mlir::Operation *) {}
};

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_ALTERNATIVE_H
