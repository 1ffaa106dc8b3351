//===- Traits.h - Traits in MLIR of any compiler ----------------*- C++ -*-===//
//
// The TypeID of a trait is looked up by the compiler's spelling of its type, in
// which g++ and clang++ differ: an agent compiled by g++ would find no trait in
// an MLIR compiled by clang++. Therefore the spelling is detected first.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"
#include "support/Memo.h"

namespace adbg {

/// Detects the spelling by an operation with known traits. Returns false if it
/// is unknown: then folds of constants cannot be recognised.
bool findTraits(MLIRContext *context);

/// A key for the name of `op`, valid as long as its context lives; faster than
/// reading the text.
inline const void *nameKeyOf(Operation *op) {
  return op->getName().getIdentifier().getAsOpaquePointer();
}

/// Whether an operation has the ConstantLike trait; slow.
bool isConstantLike(OperationName name);
bool isSymbolTable(Operation *op);
bool isIsolated(Operation *op);
bool isTerminator(Operation *op);

/// The operation around `op`, or itself, that is a naming scope of its own;
/// null of null.
Operation *scopeOf(Operation *op);
/// The outermost operation around `op`, or itself; null of null.
Operation *rootOf(Operation *op);

/// Returns the first operation in `root`, itself included, for which a test
/// holds; null if there is none.
template <WalkOrder order = WalkOrder::PreOrder, typename Test>
Operation *firstIn(Operation *root, Test test) {
  Operation *found = nullptr;
  root->walk<order>([&](Operation *op) {
    found = test(op) ? op : nullptr;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Cached properties of an operation name.
struct NameFacts {
  /// Folding a constant returns its value: never an action. Known for names
  /// that were folded.
  bool isConstant = false, isAsked = false;
  /// Its number in a recording and that of its fold; 0 if not assigned yet.
  uint32_t number = 0, foldNumber = 0;
};

/// The properties of operation names that each action needs, in one table: this
/// uses little of the L1 cache.
class OperationNames {
public:
  /// Returns the properties; the reference is valid until the next call.
  LLVM_ATTRIBUTE_ALWAYS_INLINE NameFacts &of(Operation *op) {
    return known.get(nameKeyOf(op), [] { return NameFacts(); });
  }
  /// The same, of an operation that is folded. The tool registers the traits of
  /// a name at the first question about them: it is asked at a fold only, which
  /// is at the same time in each run.
  LLVM_ATTRIBUTE_ALWAYS_INLINE NameFacts &ofFolded(Operation *op) {
    NameFacts &facts = of(op);
    if (LLVM_UNLIKELY(!facts.isAsked)) {
      facts.isConstant = isConstantLike(op->getName());
      facts.isAsked = true;
    }
    return facts;
  }

private:
  KeyMemo<NameFacts> known;
};

} // namespace adbg
