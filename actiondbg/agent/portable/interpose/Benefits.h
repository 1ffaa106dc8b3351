//===- Benefits.h - Patterns in the tool's order ----------------*- C++ -*-===//
//
// Replaces interpose/Benefits.h in the portable agent, which has no
// alternatives.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_BENEFITS_H
#define ACTIONDBG_PORTABLE_BENEFITS_H

namespace mlir {
class PatternApplicator;
} // namespace mlir

namespace adbg {

class Engine;

inline void orderAnew(mlir::PatternApplicator &, Engine &) {}

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_BENEFITS_H
