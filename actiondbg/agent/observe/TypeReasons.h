//===- TypeReasons.h - Why a type does not convert --------------*- C++ -*-===//
//
// For a replay whose end does not matter: the debug output and the other types
// move what the tool allocates later.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_TYPEREASONS_H
#define ACTIONDBG_TYPEREASONS_H

#include "mlir/IR/Types.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir {
class TypeConverter;
} // namespace mlir

namespace adbg {

class TypeReasons {
public:
  /// Begins to ask; `false` ends it.
  void ask(bool on) { asked = on; }
  bool areAsked() const { return asked; }
  /// Whether types are being converted to find reasons.
  bool isProbing() const { return probing; }

  /// Adds to an event the reasons why a type does not convert: `said`, the
  /// debug output of the conversion; `part`, the part of the type that does not
  /// convert; and `similar`, types that convert.
  void describe(const mlir::TypeConverter &converter, mlir::Type type,
                llvm::json::Object &event);

private:
  std::string debugOutput(const mlir::TypeConverter &converter,
                          mlir::Type type) const;
  bool converts(const mlir::TypeConverter &converter, mlir::Type type) const;
  mlir::Type failingPart(const mlir::TypeConverter &converter, mlir::Type type,
                         unsigned depth) const;

  bool asked = false, probing = false;
};

} // namespace adbg

#endif // ACTIONDBG_TYPEREASONS_H
