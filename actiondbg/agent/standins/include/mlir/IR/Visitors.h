//===- Visitors.h - Walks over IR -------------------------------*- C++ -*-===//

#pragma once

#include "mlir/Support/LLVM.h"
#include <type_traits>

namespace mlir {

class WalkResult {
public:
  static WalkResult advance() { return WalkResult(Advance); }
  static WalkResult skip() { return WalkResult(Skip); }
  static WalkResult interrupt() { return WalkResult(Interrupt); }

  bool wasInterrupted() const { return kind == Interrupt; }
  bool wasSkipped() const { return kind == Skip; }

private:
  enum Kind { Interrupt, Advance, Skip };
  explicit WalkResult(Kind kind) : kind(kind) {}

  Kind kind;
};

enum class WalkOrder { PreOrder, PostOrder };

namespace detail {

template <typename Result, typename Class, typename Argument>
Argument argumentOf(Result (Class::*)(Argument) const);
template <typename Result, typename Class, typename Argument>
Argument argumentOf(Result (Class::*)(Argument));

/// What the callback of a walk takes and returns.
template <typename Callback> struct Visit {
  using Argument =
      decltype(argumentOf(&std::remove_reference_t<Callback>::operator()));
  using Result = decltype(std::declval<Callback>()(std::declval<Argument>()));
  static constexpr bool isVoid = std::is_void_v<Result>;
};

template <typename Unit, typename Callback>
WalkResult visit(Unit *unit, Callback &callback) {
  using Argument = typename Visit<Callback>::Argument;
  if constexpr (std::is_same_v<Unit, Operation> && std::is_class_v<Argument>) {
    // A class that operations are wrapped in.
    if (!Argument::classof(unit))
      return WalkResult::advance();
    return callback(Argument(unit));
  } else if constexpr (!std::is_same_v<Argument, Unit *>) {
    return WalkResult::advance();
  } else if constexpr (Visit<Callback>::isVoid) {
    callback(unit);
    return WalkResult::advance();
  } else {
    return callback(unit);
  }
}

template <WalkOrder order, typename Callback>
WalkResult walk(Operation *op, Callback &callback);

} // namespace detail
} // namespace mlir
