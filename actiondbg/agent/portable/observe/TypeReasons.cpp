//===- TypeReasons.cpp - Why a type does not convert ----------------------===//
//
// Without headers the parts of a type are not known, nor how to make another
// one, nor the cache because of which a conversion is silent the second time.
//
//===----------------------------------------------------------------------===//

#include "observe/TypeReasons.h"

namespace adbg {

void TypeReasons::describe(const mlir::TypeConverter &, mlir::Type,
                           llvm::json::Object &) {}

} // namespace adbg
