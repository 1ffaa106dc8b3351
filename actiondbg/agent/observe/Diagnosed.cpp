#include "observe/Diagnosed.h"

#include "requests/Request.h"

#include "mlir/IR/Diagnostics.h"

namespace adbg {

Operation *Diagnosed::at(Location location, Operation *root) const {
  Operation *op = last.get();
  if (op && op->getLoc() == location)
    return op;
  if (!root || isa<UnknownLoc>(location))
    return nullptr;
  Operation *found = nullptr;
  bool isOnly = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *each) {
    if (each->getLoc() != location)
      return WalkResult::advance();
    isOnly = !found;
    found = each;
    return isOnly ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isOnly ? found : nullptr;
}

/// Returns the place of that operation in a walk, from 1; 0 for none.
static int64_t placeOfRefused(Operation *root, StringRef error) {
  std::string first;
  ScopedDiagnosticHandler listen(root->getContext(), [&](Diagnostic &said) {
    if (first.empty() && said.getSeverity() == DiagnosticSeverity::Error)
      first = said.str();
    return success();
  });
  int64_t place = 0, found = 0;
  root->walk([&](Operation *op) {
    first.clear();
    ++place;
    if (succeeded(verify(op, /*verifyRecursively=*/false)) || first != error)
      return WalkResult::advance();
    found = place;
    return WalkResult::interrupt();
  });
  return found;
}

Operation *Diagnosed::refused(Operation *root, StringRef error) {
  Answer answer = answerInFork(
      [&] { return Object{{"place", placeOfRefused(root, error)}}; });
  auto *found = std::get_if<Json>(&answer);
  Object *object = found ? found->getAsObject() : nullptr;
  int64_t place = object ? object->getInteger("place").value_or(0) : 0;
  Operation *refused = nullptr;
  root->walk([&](Operation *op) {
    if (--place == 0)
      refused = op;
  });
  return refused;
}

} // namespace adbg
