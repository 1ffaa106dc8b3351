//===- Pipelines.h - Pass pipelines that the agent runs ---------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

/// The number of pass managers of the tool that run now, one inside the other.
extern unsigned runningPassManagers;

/// Lets MLIR load dialects, which a build with assertions refuses while a pass
/// manager runs.
class LoadingDialects {
public:
  explicit LoadingDialects(MLIRContext *context) : context(context) {
    for (unsigned i = 0; i < outer; ++i)
      context->exitMultiThreadedExecution();
  }
  ~LoadingDialects() {
    for (unsigned i = 0; i < outer; ++i)
      context->enterMultiThreadedExecution();
  }

private:
  MLIRContext *context;
  unsigned outer = runningPassManagers;
};

/// Why a pipeline cannot run or failed: part of a sentence.
using PipelineError = std::optional<std::string>;

/// Parses a textual pipeline with the passes of the tool, such as
/// `cse,func.func(canonicalize)`, for `root`. It may be written as the pipeline
/// of `root`: `builtin.module(cse)`.
PipelineError checkPipeline(Operation *root, StringRef pipeline);

/// Runs a textual pipeline on `root`, which is isolated from above. Works at a
/// stop inside a pass manager of the tool too. `forwards`: the diagnostics
/// reach the tool's handlers, too; else only the first error is returned.
PipelineError runPipeline(Operation *root, StringRef pipeline,
                          bool forwards = false);

/// Returns the arguments of the passes that the tool has registered. Redirects
/// the standard output: call it in a fork.
std::vector<std::string> registeredPasses();

/// Returns the arguments of the passes that the current MLIR has functions for,
/// such as `mlir::createCSEPass()`. Registers each of these passes that is not
/// registered: a compiler that builds its pipelines in code, as Triton does,
/// registers none.
const std::vector<std::string> &makeablePasses();

} // namespace adbg
