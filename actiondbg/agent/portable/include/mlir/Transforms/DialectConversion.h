//===- DialectConversion.h - Conversions ------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_DIALECTCONVERSION_H
#define ACTIONDBG_MLIR_DIALECTCONVERSION_H

#include "mlir/IR/PatternMatch.h"

namespace mlir {

class ConversionPatternRewriter;
class ConversionTarget;
class TypeConverter;

} // namespace mlir

#endif // ACTIONDBG_MLIR_DIALECTCONVERSION_H
