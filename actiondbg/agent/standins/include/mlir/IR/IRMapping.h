//===- IRMapping.h - Copies of IR -------------------------------*- C++ -*-===//

#pragma once

namespace mlir {

/// The tool's, which is only passed on.
class IRMapping;

} // namespace mlir
