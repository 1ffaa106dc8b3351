//===- Frame.h - One action on the stack of actions -------------*- C++ -*-===//

#ifndef ACTIONDBG_FRAME_H
#define ACTIONDBG_FRAME_H

#include "mlir/IR/Action.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class Pattern;
class Pass;
} // namespace mlir

namespace adbg {

enum class Kind : uint8_t { Pass, Pattern, Fold, Other };

/// What is known of an IR unit that was erased while its action ran.
struct Gone {
  size_t unit;
  std::string name;
  std::string location;
  std::string function;
  bool hasFunction = false;
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
  unsigned depth = 0;
  Kind kind = Kind::Other;
  bool over = false;
  bool skipped = false;
  /// Units that were erased or replaced since the action began.
  llvm::SmallVector<Gone, 0> gone;
  /// Breakpoints that are to stop after this action.
  llvm::SmallVector<int, 0> stopAfter;

  Frame(const mlir::tracing::Action &action);
  /// A fold of the operation in `unit`.
  explicit Frame(llvm::ArrayRef<mlir::IRUnit> unit)
      : units(unit), kind(Kind::Fold) {}

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

/// Returns the symbol name of `op`; empty if it has none.
llvm::StringRef symbolName(mlir::Operation *op);

} // namespace adbg

#endif // ACTIONDBG_FRAME_H
