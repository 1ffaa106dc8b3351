//===- FunctionInterfaces.h - Functions -------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace mlir {

/// A function whose type is a builtin one.
class FunctionOpInterface {
public:
  FunctionOpInterface() = default;
  explicit FunctionOpInterface(Operation *op) : type(typeOf(op)) {}

  static bool classof(Operation *op) { return typeOf(op); }
  explicit operator bool() const { return type; }

  ArrayRef<Type> getArgumentTypes() const {
    return types(adbg::tool::inputsOf);
  }
  ArrayRef<Type> getResultTypes() const { return types(adbg::tool::resultsOf); }

private:
  using Types = adbg::tool::PointersAndSize(const void *);

  ArrayRef<Type> types(Types *of) const {
    adbg::tool::PointersAndSize all = of(&type);
    return {static_cast<const Type *>(all.pointers), all.size};
  }

  static const void *typeOf(Operation *op) {
    if (!adbg::tool::typeIn || !adbg::tool::inputsOf || !adbg::tool::resultsOf)
      return nullptr;
    Attribute attribute = op->getAttr(StringRef("function_type"));
    if (!attribute)
      return nullptr;
    // Those of other dialects are printed with a name.
    std::string text;
    llvm::raw_string_ostream os(text);
    attribute.print(os);
    if (!StringRef(os.str()).starts_with("("))
      return nullptr;
    return adbg::tool::typeIn(&attribute);
  }

  const void *type = nullptr;
};

} // namespace mlir
