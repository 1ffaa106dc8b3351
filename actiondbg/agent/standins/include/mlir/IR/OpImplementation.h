//===- OpImplementation.h - Interfaces of operations ------------*- C++ -*-===//

#pragma once

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"

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

/// A function whose type is a builtin one.
class FunctionOpInterface {
public:
  FunctionOpInterface() = default;
  explicit FunctionOpInterface(Operation *op) : type(typeOf(op)) {}

  static bool classof(Operation *op) { return typeOf(op); }
  explicit operator bool() const { return type; }

  ArrayRef<Type> getArgumentTypes() const {
    return adbg::tool::inputsOf(&type);
  }
  ArrayRef<Type> getResultTypes() const { return adbg::tool::resultsOf(&type); }

private:
  static const void *typeOf(Operation *op) {
    if (!adbg::tool::typeIn || !adbg::tool::inputsOf || !adbg::tool::resultsOf)
      return nullptr;
    Attribute attribute = op->getAttr(StringRef("function_type"));
    if (!attribute)
      return nullptr;
    // Those of other dialects are printed with a name.
    if (!StringRef(adbg::printed(attribute)).starts_with("("))
      return nullptr;
    return adbg::tool::typeIn(&attribute);
  }

  const void *type = nullptr;
};

} // namespace mlir
