//===- ReasonListener.h - Reasons of failed matches -------------*- C++ -*-===//

#ifndef ACTIONDBG_REASONLISTENER_H
#define ACTIONDBG_REASONLISTENER_H

#include "mlir/IR/PatternMatch.h"

namespace adbg {

/// Gives the engine a reason why a pattern does not match.
void noteReason(mlir::Location location,
                llvm::function_ref<void(mlir::Diagnostic &)> reasonOf);

/// Notes the reasons that a rewriter reports while this exists, and forwards
/// every notification.
class ReasonListener : mlir::RewriterBase::ForwardingListener {
public:
  explicit ReasonListener(mlir::PatternRewriter &rewriter)
      : ForwardingListener(rewriter.getListener()), rewriter(rewriter),
        outer(rewriter.getListener()) {
    rewriter.setListener(this);
  }
  ~ReasonListener() override { rewriter.setListener(outer); }

private:
  void notifyMatchFailure(
      mlir::Location location,
      llvm::function_ref<void(mlir::Diagnostic &)> reasonOf) override {
    ForwardingListener::notifyMatchFailure(location, reasonOf);
    noteReason(location, reasonOf);
  }

  mlir::PatternRewriter &rewriter;
  mlir::OpBuilder::Listener *outer;
};

} // namespace adbg

#endif // ACTIONDBG_REASONLISTENER_H
