#include "observe/ActionVerifier.h"

#include "mlir/IR/Diagnostics.h"

namespace adbg {

/// Whether a rewrite or a conversion is in progress: then the IR need not be
/// valid.
static bool isIncomplete(const Frame &frame) {
  for (const Frame *outer = frame.parent; outer; outer = outer->parent)
    if (outer->kind == Kind::Pattern || outer->isConversion())
      return true;
  return false;
}

std::string ActionVerifier::whyInvalid(Operation *op) {
  std::string why;
  found = OperationHandle();
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!operand) {
        why = "an operand of " + inner->getName().getStringRef().str() +
              " is null";
        found = OperationHandle(inner);
      }
  });
  if (!why.empty())
    return why;
  ScopedDiagnosticHandler listen(op->getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty()) {
      why = diagnostic.str();
      Operation *about = Diagnosed().at(diagnostic.getLocation(), op);
      found = OperationHandle(about);
    }
    return success();
  });
  if (succeeded(verify(op)))
    return "";
  if (!found.get())
    found = OperationHandle(Diagnosed::refused(op, why));
  return why.empty() ? "the verifier fails" : why;
}

std::string ActionVerifier::check(const Frame &frame) {
  const Frame *about = frame.over ? &frame : frame.parent;
  if (!about || isIncomplete(*about) || (!frame.over && isIncomplete(frame)))
    return "";
  Operation *op = scopeOf(opAround(about));
  if (!op)
    return "";
  std::string why = whyInvalid(op);
  bool wasBroken = std::exchange(isBroken, !why.empty());
  return wasBroken ? "" : why;
}

} // namespace adbg
