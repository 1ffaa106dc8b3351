//===- OpImplementation.h - Names that operations suggest -------*- C++ -*-===//

#pragma once

#include "mlir/IR/AsmState.h"

namespace mlir {

using OpAsmSetValueNameFn = function_ref<void(Value, StringRef)>;

class OpAsmOpInterface {
public:
  OpAsmOpInterface() = default;
  explicit OpAsmOpInterface(Operation *op)
      : op(op), functions(functionsOf(op)) {}

  static TypeID getInterfaceID() {
    static TypeID id = detail::FallbackTypeIDResolver::registerImplicitTypeID(
        "mlir::OpAsmOpInterface");
    return id;
  }
  static bool classof(Operation *op) { return functionsOf(op); }

  explicit operator bool() const { return functions; }

  void getAsmResultNames(OpAsmSetValueNameFn set) {
    functions->getAsmResultNames(functions, op, set);
  }
  void getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
    functions->getAsmBlockArgumentNames(functions, op, region, set);
  }
  StringRef getDefaultDialect() { return functions->getDefaultDialect(); }

private:
  /// The first functions of the interface, the same in all versions.
  struct Functions {
    void (*getAsmResultNames)(const Functions *, Operation *,
                              OpAsmSetValueNameFn);
    void (*getAsmBlockArgumentNames)(const Functions *, Operation *, Region &,
                                     OpAsmSetValueNameFn);
    void (*getAsmBlockNames)();
    StringRef (*getDefaultDialect)();
  };
  static const Functions *functionsOf(Operation *op) {
    return static_cast<const Functions *>(
        op->getName().getInterface(getInterfaceID()));
  }

  Operation *op = nullptr;
  const Functions *functions = nullptr;
};

} // namespace mlir
