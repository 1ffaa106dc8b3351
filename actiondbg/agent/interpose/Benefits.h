//===- Benefits.h - Patterns ordered by changed benefits --------*- C++ -*-===//

#pragma once

namespace mlir {
class PatternApplicator;
} // namespace mlir

namespace adbg {

class Engine;

/// Orders the patterns of an applicator again, if the engine's alternative
/// changed their benefits since.
void orderAnew(mlir::PatternApplicator &applicator, Engine &engine);

} // namespace adbg
