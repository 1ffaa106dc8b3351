//===- Convergence.cpp - Greedy rewrites that do not converge -------------===//

#include "observe/Convergence.h"

namespace adbg {

std::string checkConvergence(Frame &frame) {
  bool isRewrite = frame.kind == Kind::Pattern || frame.kind == Kind::Fold;
  if (!isRewrite || !frame.changed())
    return "";
  Frame *driver = frame.parent;
  while (driver && !driver->isGreedyIteration() && driver->kind != Kind::Pass)
    driver = driver->parent;
  // A conversion rewrites each operation once, including those that it creates.
  if (!driver || frame.conversion)
    return "";
  uint64_t rewrites = ++driver->rewrites;
  if (rewrites < 1024 || (rewrites & (rewrites - 1)) != 0)
    return "";
  uint64_t operations = 0;
  if (Operation *op = driver->op())
    op->walk([&](Operation *) { ++operations; });
  // Operations are rarely rewritten more than a few times before the driver
  // converges.
  if (rewrites < 32 * operations)
    return "";
  return "the greedy driver does not converge: " + std::to_string(rewrites) +
         " rewrites of only " + std::to_string(operations) + " operations";
}

} // namespace adbg
