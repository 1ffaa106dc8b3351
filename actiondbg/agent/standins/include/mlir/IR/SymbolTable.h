//===- SymbolTable.h - Symbols ----------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_SYMBOLTABLE_H
#define ACTIONDBG_MLIR_SYMBOLTABLE_H

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

#endif // ACTIONDBG_MLIR_SYMBOLTABLE_H
