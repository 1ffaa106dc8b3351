#include "support/Traits.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

namespace adbg {

namespace {
struct TraitIDs {
  TypeID constantLike, symbolTable, isolated, terminator;
};
} // namespace

static TraitIDs &traitIDs() {
  static ADBG_OF_INSTANCE TraitIDs *ids = nullptr;
  if (!ids)
    ids = new TraitIDs;
  return *ids;
}

/// Registers `spelling`, which must never be freed: the registry keeps a
/// reference.
static TypeID idOf(StringRef spelling) {
  return mlir::detail::FallbackTypeIDResolver::registerImplicitTypeID(spelling);
}

// The argument of the trait is a class inside of MLIR's TypeID::get<Trait>().
#define ADBG_SPELLED_IN_GET(TRAIT, BEGIN, END)                                 \
  "mlir::OpTrait::" TRAIT "<mlir::TypeID::get" BEGIN                           \
  "mlir::OpTrait::" TRAIT END "::Empty>"
#define ADBG_SPELLED_BY_GCC(TRAIT) ADBG_SPELLED_IN_GET(TRAIT, "<", ">()")
#define ADBG_SPELLED_BY_GCC_11(TRAIT) ADBG_SPELLED_IN_GET(TRAIT, "<", ">")
#define ADBG_SPELLED_BY_GCC_10(TRAIT)                                          \
  ADBG_SPELLED_IN_GET(TRAIT, "() [with Trait = ", "]")
#define ADBG_SPELLED_BY_CLANG(TRAIT) "mlir::OpTrait::" TRAIT "<Empty>"

#define ADBG_IDS(SPELL)                                                        \
  TraitIDs {                                                                   \
    idOf(SPELL("ConstantLike")), idOf(SPELL("SymbolTable")),                   \
        idOf(SPELL("IsIsolatedFromAbove")), idOf(SPELL("IsTerminator"))        \
  }

bool findTraits(MLIRContext *context) {
  // The registry of the tool grows with each id: it grows now, and not at the
  // first question, which a recording asks and a session may not.
  SymbolOpInterface::getInterfaceID();
  OpAsmOpInterface::getInterfaceID();
  // Each context has the builtin dialect, and a module is a symbol table.
  OperationName module("builtin.module", context);
  for (const TraitIDs &ids :
       {traitIDs(), ADBG_IDS(ADBG_SPELLED_BY_CLANG),
        ADBG_IDS(ADBG_SPELLED_BY_GCC), ADBG_IDS(ADBG_SPELLED_BY_GCC_11),
        ADBG_IDS(ADBG_SPELLED_BY_GCC_10)}) {
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

Operation *scopeOf(Operation *op) {
  while (op && op->getParentOp() && !isIsolated(op))
    op = op->getParentOp();
  return op;
}

Operation *rootOf(Operation *op) {
  while (op && op->getParentOp())
    op = op->getParentOp();
  return op;
}

bool isTerminator(Operation *op) {
  return op->getName().hasTrait(traitIDs().terminator);
}

} // namespace adbg
