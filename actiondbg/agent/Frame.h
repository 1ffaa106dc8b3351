//===- Frame.h - One action on the stack of actions -------------*- C++ -*-===//

#ifndef ACTIONDBG_FRAME_H
#define ACTIONDBG_FRAME_H

#include "Changes.h"
#include "Digest.h"

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
  Pass,
  Pattern,
  Fold,
  Iteration,
  Conversion,
  Other,
  None
};

/// What a fold has found.
enum class Found : uint8_t { Nothing, InPlace, Constants, Values, Both };
llvm::StringRef textOf(Found found);

/// What an action returned, as far as it is known.
enum class Returned : uint8_t { Unknown, Success, Failure, RolledBack };

enum class Result : uint8_t { Succeeded, Unchanged, Failed, Skipped };

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

/// One dispatched action. Lives on the stack of the thread that runs it; all
/// that is costly is computed only when it is asked for.
struct Frame {
  Frame *parent = nullptr;
  /// The action; null for a fold, which upstream has no action for.
  const mlir::tracing::Action *action = nullptr;
  llvm::ArrayRef<mlir::IRUnit> units;
  uint64_t ordinal = 0;
  /// Its number among those of its tag, from 1.
  uint64_t nth = 0;
  unsigned depth = 0;
  Kind kind = Kind::Other;
  bool over = false;
  bool skipped = false;
  /// In a pass whose actions all have to run; one that may be skipped; one
  /// that is, by a plan. See Plan.h.
  bool isHeld = false, isCandidate = false, isPlanned = false;
  /// Units that were erased or replaced since the action began.
  llvm::SmallVector<Gone, 0> gone;
  /// Breakpoints that are to stop after this action, whatever its outcome, and
  /// those that its outcome decides about.
  llvm::SmallVector<int, 0> stopAfter, undecided;
  /// The resumption's until matches this action, and asks for its end.
  bool untilMatches = false;
  /// What did not match is to be told, as a stop may follow.
  bool wantsReasons = false;
  /// What is modified without notice is to be found.
  bool wantsModified = false;

  // What it did, see Observer.h.
  Tally tally;
  Returned returned = Returned::Unknown;
  bool foundUnnoticed = false;
  uint32_t foldedId = 0;
  llvm::StringRef foldedName;
  Found found = Found::Nothing;
  llvm::SmallVector<std::string, 0> reasons, values;
  /// The dialect conversion around this action, if there is one.
  Frame *conversion = nullptr;
  uint32_t legalized = 0, rolledBack = 0, errors = 0;
  uint64_t rewrites = 0;
  /// Of a pass: the patterns and folds tried in it.
  uint64_t leaves = 0;
  /// How many actions of other threads in it have changed something.
  std::atomic<int32_t> elsewhere{0};
  bool hasConversion = false;
  int64_t began = 0;
  uint64_t digest = 0;
  std::unique_ptr<Snapshot> snapshot;

  Frame(const mlir::tracing::Action &action);
  /// A fold of the operation in `unit`.
  explicit Frame(llvm::ArrayRef<mlir::IRUnit> unit);
  /// No action.
  Frame() : kind(Kind::None) {}

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
  Result result() const;
  bool changed() const;
  /// Whether it changed something other than through nested actions.
  bool changedItself() const;

  const Gone *goneUnit(size_t index) const;
  /// The operation that the action is about (of a region, block or value: the
  /// one that holds it), or what replaced it; null if there is none alive.
  mlir::Operation *op() const;
  /// The same for any of the units.
  mlir::Operation *opOfUnit(size_t index) const;

private:
  mutable std::optional<std::string> madeName;
  mutable std::optional<llvm::StringRef> madeFunction;
};

/// Returns `name` without the anonymous namespace, whoever spelled it.
std::string withoutAnonymous(llvm::StringRef name);

/// Returns what follows the last `::` outside of template arguments.
llvm::StringRef lastComponent(llvm::StringRef name);

/// Returns the operation that holds a unit, or the unit itself.
mlir::Operation *holderOf(const mlir::IRUnit &unit);

/// Returns the nearest operation around `op`, or itself, that has a symbol name
/// and is not a symbol table; null if there is none.
mlir::Operation *functionAround(mlir::Operation *op);
/// Returns the symbol name of that; null if there is none.
mlir::StringAttr symbolAround(mlir::Operation *op);

/// Returns the symbol name of `op`; empty if it has none.
llvm::StringRef symbolName(mlir::Operation *op);
mlir::StringAttr symbolAttr(mlir::Operation *op);

} // namespace adbg

#endif // ACTIONDBG_FRAME_H
