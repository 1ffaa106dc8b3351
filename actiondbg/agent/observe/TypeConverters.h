//===- TypeConverters.h - The type converters of patterns -------*- C++ -*-===//

#pragma once

#include "mlir/IR/PatternMatch.h"
#include <string>

namespace mlir {
class TypeConverter;
} // namespace mlir

namespace adbg {

/// Returns the name of a type converter's class; empty if it says nothing.
std::string nameOf(const mlir::TypeConverter &converter);

/// Returns the type converter of a conversion pattern; null if it has none, or
/// if the pattern is perhaps another one.
const mlir::TypeConverter *converterOf(const mlir::Pattern &pattern);

} // namespace adbg
