//===- Traits.h - Traits of operations, whoever compiled MLIR ---*- C++ -*-===//
//
// The TypeID of a trait is found by the text that the compiler spells its type
// with, and g++ and clang++ spell it differently: an agent of g++ would find no
// trait in an MLIR of clang++. So the spelling is found out first.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_TRAITS_H
#define ACTIONDBG_TRAITS_H

#include "mlir/IR/Operation.h"
#include "support/Memo.h"

namespace adbg {

/// Finds out the spelling, by an operation whose traits are known. Returns
/// whether it was found: without it folds of constants cannot be told apart.
bool findTraits(mlir::MLIRContext *context);

/// What the name of `op` can be known by as long as its context lives; to read
/// the text takes longer.
inline const void *nameKeyOf(mlir::Operation *op) {
  return op->getName().getIdentifier().getAsOpaquePointer();
}

/// Asks one trait after the other.
bool isConstantLike(mlir::OperationName name);
bool isSymbolTable(mlir::Operation *op);
bool isIsolated(mlir::Operation *op);

/// What is remembered of a name of operations.
struct NameFacts {
  /// To fold one is to ask for its value: never an action.
  bool isConstant = false;
  /// The numbers that it has in a recording, and that the fold of such an
  /// operation has; 0 if there is none yet.
  uint32_t number = 0, foldNumber = 0;
};

/// All that is asked of the names of operations with each action, in one place:
/// so it costs the tool little of the nearest cache.
class OperationNames {
public:
  /// Valid until another one is asked for.
  LLVM_ATTRIBUTE_ALWAYS_INLINE NameFacts &of(mlir::Operation *op) {
    return known.get(nameKeyOf(op),
                     [&] { return NameFacts{isConstantLike(op->getName())}; });
  }

private:
  KeyMemo<NameFacts> known;
};

} // namespace adbg

#endif // ACTIONDBG_TRAITS_H
