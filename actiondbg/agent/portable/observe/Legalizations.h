//===- Legalizations.h - Conversions without their targets ------*- C++ -*-===//
//
// Replaces observe/Legalizations.h in the portable agent: what a conversion
// tried in vain is told by its target, whose classes need MLIR's headers.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_LEGALIZATIONS_H
#define ACTIONDBG_PORTABLE_LEGALIZATIONS_H

#include "observe/Identity.h"

namespace mlir {
class Diagnostic;
} // namespace mlir

namespace adbg {

class Legalizations {
public:
  explicit Legalizations(const Identities &) {}
  void abandon() {}
  void flush() {}
  bool isTracing() const { return false; }
  void gaveReason(const mlir::Diagnostic &) {}
  void diagnosed(const mlir::Diagnostic &) {}
};

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_LEGALIZATIONS_H
