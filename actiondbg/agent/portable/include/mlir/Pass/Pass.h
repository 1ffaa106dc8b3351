//===- Pass.h - Passes ------------------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_PASS_H
#define ACTIONDBG_MLIR_PASS_H

#include "portable/Layout.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {

/// The tool's: the functions that are used, in the order of their table.
class Pass {
public:
  virtual ~Pass() = default;
  virtual StringRef getName() const = 0;
  virtual void getDependentDialects(void *registry) const = 0;
  virtual StringRef getArgument() const = 0;
  virtual StringRef getDescription() const = 0;
  virtual LogicalResult initializeOptions(StringRef options,
                                          void *errorHandler) = 0;
  virtual void runOnOperation() = 0;

  ADBG_STAND_IN void printAsTextualPipeline(raw_ostream &os) {
    if (adbg::tool::printPipelinePretty)
      adbg::tool::printPipelinePretty(this, os, false);
    else if (adbg::tool::printPipeline)
      adbg::tool::printPipeline(this, os);
    else
      os << getArgument();
  }

  /// The operation that the pass runs on, and whether the pass has failed.
  struct State {
    struct {
      uintptr_t bits;
      bool getInt() const { return bits & 4; }
    } irAndPassFailed;
  };
  /// The tool's std::optional, while the pass runs.
  struct Running {
    State state;
    explicit operator bool() const { return true; }
    const State *operator->() const { return &state; }
  };

private:
  TypeID passID;
  std::optional<StringRef> opName;

public:
  Running passState;
};
static_assert(sizeof(Pass) == 48);

/// The action that runs a pass.
class PassExecutionAction : public tracing::Action {
public:
  static tracing::ActionClass &known() {
    static tracing::ActionClass known("pass-execution");
    return known;
  }
  static bool classof(const Action *action) {
    return LLVM_LIKELY(adbg::Layout::offsets.hasPasses) &&
           known().contains(*action);
  }
  const Pass &getPass() const { return pass; }

private:
  const Pass &pass;
};

} // namespace mlir

#endif // ACTIONDBG_MLIR_PASS_H
