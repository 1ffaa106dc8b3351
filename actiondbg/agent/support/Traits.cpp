//===- Traits.cpp - Traits of operations, whoever compiled MLIR
//-------------===//

#include "support/Traits.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace adbg {

namespace {
struct TraitIDs {
  TypeID constantLike = TypeID::get<OpTrait::ConstantLike>();
  TypeID symbolTable = TypeID::get<OpTrait::SymbolTable>();
  TypeID isolated = TypeID::get<OpTrait::IsIsolatedFromAbove>();
};
} // namespace

static TraitIDs &traitIDs() {
  static TraitIDs ids;
  return ids;
}

/// Registers `spelling`, which has to live for ever: the registry keeps it.
static TypeID idOf(llvm::StringRef spelling) {
  return mlir::detail::FallbackTypeIDResolver::registerImplicitTypeID(spelling);
}

// The argument of the trait is a class inside of TypeID::get<Trait>().
#define ADBG_SPELLED_BY_GCC(TRAIT)                                             \
  "mlir::OpTrait::" TRAIT "<mlir::TypeID::get<mlir::OpTrait::" TRAIT           \
  ">()::Empty>"
#define ADBG_SPELLED_BY_CLANG(TRAIT) "mlir::OpTrait::" TRAIT "<Empty>"

#define ADBG_IDS(SPELL)                                                        \
  TraitIDs {                                                                   \
    idOf(SPELL("ConstantLike")), idOf(SPELL("SymbolTable")),                   \
        idOf(SPELL("IsIsolatedFromAbove"))                                     \
  }

bool findTraits(MLIRContext *context) {
  // The builtin dialect is in each context, and a module is a symbol table.
  OperationName module("builtin.module", context);
  for (const TraitIDs &ids : {traitIDs(), ADBG_IDS(ADBG_SPELLED_BY_CLANG),
                              ADBG_IDS(ADBG_SPELLED_BY_GCC)}) {
    traitIDs() = ids;
    if (module.hasTrait(ids.symbolTable))
      return true;
  }
  return false;
}

bool isConstantLike(OperationName name) {
  return name.hasTrait(traitIDs().constantLike);
}

bool isSymbolTable(Operation *op) {
  return op->getName().hasTrait(traitIDs().symbolTable);
}

bool isIsolated(Operation *op) {
  return op->getName().hasTrait(traitIDs().isolated);
}

} // namespace adbg
