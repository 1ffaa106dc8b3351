//===- Frame.h - One action on the stack of actions -------------*- C++ -*-===//

#ifndef ACTIONDBG_FRAME_H
#define ACTIONDBG_FRAME_H

#include "observe/Changes.h"
#include "observe/Digest.h"
#include "support/Traits.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class Pattern;
class Pass;
} // namespace mlir

namespace adbg {

/// None is the kind of a frame that stands for no action.
enum class Kind : uint8_t {
  Fold,
  Pattern,
  Pass,
  Iteration,
  Conversion,
  Other,
  None
};

/// What a fold has found.
enum class Found : uint8_t { Nothing, InPlace, Constants, Values, Both };
llvm::StringRef textOf(Found found);

/// What an action returned, as far as it is known.
enum class Returned : uint8_t { Unknown, Failure, Success, RolledBack };

enum class Result : uint8_t { Succeeded, Unchanged, Failed, Skipped };
llvm::StringRef textOf(Result result);

/// What is known of an IR unit that was erased while its action ran.
struct Gone {
  size_t unit;
  uint32_t id;
  // What lives as long as the context: to spell it out is left to who asks.
  mlir::OperationName name;
  mlir::Location location;
  /// The symbol that holds it; null if there is none.
  mlir::StringAttr function;
  /// What replaced it, if that is an operation that is still alive.
  mlir::Operation *by = nullptr;
};

/// What few actions have: to make it ready for each would take longer than most
/// actions take.
struct Rare {
  /// Units that were erased or replaced since the action began.
  llvm::SmallVector<Gone, 0> gone;
  /// Breakpoints that are to stop after this action, whatever its outcome, and
  /// those that its outcome decides about.
  llvm::SmallVector<int, 0> stopAfter, undecided;
  llvm::SmallVector<std::string, 0> reasons, values;
  std::unique_ptr<Snapshot> snapshot;
  std::optional<std::string> name;
  std::optional<llvm::StringRef> function;
};

/// One dispatched action. Lives on the stack of the thread that runs it; all
/// that is costly is computed only when it is asked for.
struct Frame {
  Frame *parent = nullptr;
  /// The dialect conversion around this action, if there is one.
  Frame *conversion = nullptr;
  /// The action; null for a fold, which upstream has no action for.
  const mlir::tracing::Action *action = nullptr;
  /// Of a fold: the key of the operation's name; it may be erased since.
  const void *foldedName = nullptr;
  llvm::ArrayRef<mlir::IRUnit> units;

  // Members of one size stand together, as all of this is made ready for each
  // action.
  uint64_t ordinal = 0;
  /// Its number among those of its tag, from 1.
  uint64_t nth = 0;
  int64_t began = 0;
  uint64_t digest = 0;
  uint64_t rewrites = 0;
  /// Of a pass: the patterns and folds tried in it.
  uint64_t leaves = 0;
  /// What it did, see Observer.h.
  Tally tally;
  uint32_t depth = 0;
  uint32_t foldedId = 0;
  uint32_t legalized = 0, rolledBack = 0, errors = 0;
  /// How many actions of other threads in it have changed something.
  std::atomic<int32_t> elsewhere{0};

  Kind kind = Kind::Other;
  Returned returned = Returned::Unknown;
  Found found = Found::Nothing;
  bool over = false;
  bool skipped = false;
  /// In a pass whose actions all have to run; one that may be skipped; one
  /// that is, by a plan. See Plan.h.
  bool isHeld = false, isCandidate = false, isPlanned = false;
  /// The resumption's until matches this action, and asks for its end.
  bool untilMatches = false;
  /// What did not match is to be told, as a stop may follow.
  bool wantsReasons = false;
  /// What is modified without notice is to be found, or was.
  bool wantsModified = false, foundUnnoticed = false;
  bool hasConversion = false;

  Frame(const mlir::tracing::Action &action);
  /// A fold of the operation in `unit`.
  explicit Frame(llvm::ArrayRef<mlir::IRUnit> unit)
      : foldedName(nameKeyOf(llvm::cast<mlir::Operation *>(unit[0]))),
        units(unit), kind(Kind::Fold) {}
  /// No action.
  Frame() : kind(Kind::None) {}

  const Rare &rare() const { return made ? *made : none; }
  Rare &needRare() const {
    if (!made)
      made = std::make_unique<Rare>();
    return *made;
  }

  llvm::StringRef tag() const;
  /// What the tag's action is about: pass argument, pattern name ...; without
  /// the anonymous namespace. Never blank for a pattern.
  std::string name() const;
  /// The name as the compiler spelled it; empty if there is none.
  std::string fullName() const;
  /// The name, kept for as long as the frame lives: for conditions.
  llvm::StringRef shortName() const;
  /// The symbol that holds the operation; empty if there is none.
  llvm::StringRef function() const;
  llvm::ArrayRef<llvm::StringRef> labels() const;
  std::string text() const;
  const mlir::Pattern *pattern() const;
  const mlir::Pass *pass() const;
  /// The greedy driver's iteration that this is or is in; -1 if none.
  int64_t iteration() const;

  bool isGreedyIteration() const { return kind == Kind::Iteration; }
  bool isConversion() const { return kind == Kind::Conversion; }
  /// A pass that only runs other passes.
  bool isAdaptor() const;

  // Once it is over.
  Result result() const { return result(changed()); }
  LLVM_ATTRIBUTE_ALWAYS_INLINE bool changed() const {
    // What a fold found is put in place by its caller, right after.
    bool isChange = tally.net > 0 || elsewhere > 0 ||
                    (kind == Kind::Fold && returned == Returned::Success);
    return LLVM_UNLIKELY(isChange) && returned != Returned::RolledBack &&
           !skipped;
  }
  /// A pattern or fold that did not match: most of all actions.
  bool isFailedAttempt() const {
    return kind <= Kind::Pattern && returned <= Returned::Failure;
  }
  /// The result of one that has changed something or not.
  Result result(bool changed) const {
    if (LLVM_UNLIKELY(skipped))
      return Result::Skipped;
    if (isFailedAttempt() || returned == Returned::Failure ||
        returned == Returned::RolledBack)
      return Result::Failed;
    return changed ? Result::Succeeded : Result::Unchanged;
  }
  /// Whether it changed something other than through nested actions.
  bool changedItself() const;

  const Gone *goneUnit(size_t index) const;
  /// The operation that the action is about (of a region, block or value: the
  /// one that holds it), or what replaced it; null if there is none alive.
  mlir::Operation *op() const;
  /// The same for any of the units.
  mlir::Operation *opOfUnit(size_t index) const;

private:
  static const Rare &none;
  mutable std::unique_ptr<Rare> made;
};

/// Returns the name of operations that a key stands for.
llvm::StringRef nameFrom(const void *key);

/// Returns `name` without the anonymous namespace, whoever spelled it.
std::string withoutAnonymous(llvm::StringRef name);

/// Returns what follows the last `::` outside of template arguments.
llvm::StringRef lastComponent(llvm::StringRef name);

/// Returns the operation that holds a unit, or the unit itself.
mlir::Operation *holderOfOther(const mlir::IRUnit &unit);
LLVM_ATTRIBUTE_ALWAYS_INLINE mlir::Operation *
holderOf(const mlir::IRUnit &unit) {
  auto *op = llvm::dyn_cast_if_present<mlir::Operation *>(unit);
  return LLVM_LIKELY(op) ? op : holderOfOther(unit);
}

/// Returns the nearest operation around `op`, or itself, that has a symbol name
/// and is not a symbol table; null if there is none.
mlir::Operation *functionAround(mlir::Operation *op);
/// Whether `op` holds something, and may have a symbol name by which that is
/// known.
bool mayBeFunctionByName(mlir::Operation *op);
inline bool mayBeFunction(mlir::Operation *op) {
  // Leaf operations are most of all, and hold nothing: do not look further.
  return LLVM_UNLIKELY(op->getNumRegions() != 0) && mayBeFunctionByName(op);
}
/// Returns the symbol name of that; null if there is none.
mlir::StringAttr symbolAround(mlir::Operation *op);

/// Returns the symbol name of `op`; empty if it has none.
llvm::StringRef symbolName(mlir::Operation *op);
mlir::StringAttr symbolAttr(mlir::Operation *op);

} // namespace adbg

#endif // ACTIONDBG_FRAME_H
