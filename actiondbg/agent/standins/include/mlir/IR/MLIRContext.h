//===- MLIRContext.h - Contexts ---------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Action.h"

namespace mlir {

class DialectRegistry;

/// The tool's: never made here.
class MLIRContext {
public:
  enum class Threading { DISABLED, ENABLED };

  MLIRContext() = delete;
  MLIRContext(const MLIRContext &) = delete;

  ADBG_STAND_IN bool isMultithreadingEnabled() {
    return adbg::tool::isThreaded && adbg::tool::isThreaded(this);
  }
  ADBG_STAND_IN void enterMultiThreadedExecution() {
    adbg::tool::enterThreads(this);
  }
  ADBG_STAND_IN void exitMultiThreadedExecution() {
    adbg::tool::exitThreads(this);
  }
  /// Returns the names of the registered operations; none if the tool lacks the
  /// function.
  ADBG_STAND_IN ArrayRef<OperationName> getRegisteredOperations() {
    if (!adbg::tool::registeredOperations)
      return {};
    adbg::tool::PointersAndSize all = adbg::tool::registeredOperations(this);
    return {static_cast<const OperationName *>(all.pointers), all.size};
  }
};

using RegisteredOperationName = OperationName;

} // namespace mlir
