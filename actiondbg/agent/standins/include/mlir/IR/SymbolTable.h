//===- SymbolTable.h - Symbols ----------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace mlir {

struct SymbolTable {
  static StringRef getSymbolAttrName() { return "sym_name"; }
};

struct SymbolOpInterface {
  static TypeID getInterfaceID() {
    static TypeID id = detail::FallbackTypeIDResolver::registerImplicitTypeID(
        "mlir::SymbolOpInterface");
    return id;
  }
};

} // namespace mlir
