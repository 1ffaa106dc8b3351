//===- Convergence.cpp - Greedy rewrites that do not converge -------------===//

#include "observe/Convergence.h"

using namespace mlir;

namespace adbg {

std::string checkConvergence(Frame &frame) {
  bool isRewrite = frame.kind == Kind::Pattern || frame.kind == Kind::Fold;
  if (!isRewrite || !frame.changed())
    return "";
  Frame *driver = frame.parent;
  while (driver && !driver->isGreedyIteration() && driver->kind != Kind::Pass)
    driver = driver->parent;
  // A conversion rewrites each operation once, and what it made.
  if (!driver || frame.conversion)
    return "";
  uint64_t rewrites = ++driver->rewrites;
  if (rewrites < 1024 || (rewrites & (rewrites - 1)) != 0)
    return "";
  uint64_t operations = 0;
  if (Operation *op = driver->op())
    op->walk([&](Operation *) { ++operations; });
  // Few operations are rewritten more than some times until they settle.
  if (rewrites < 32 * operations)
    return "";
  return "the greedy driver does not settle: " + std::to_string(rewrites) +
         " rewrites, and there are only " + std::to_string(operations) +
         " operations";
}

} // namespace adbg
