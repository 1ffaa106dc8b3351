//===- Action.h - Actions ---------------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Unit.h"

namespace mlir::tracing {

/// The tool's, with the functions of its class in this order.
class Action {
public:
  virtual ~Action() = default;

  virtual StringRef getTag() const = 0;
  virtual void print(raw_ostream &os) const = 0;
  virtual ArrayRef<IRUnit> getContextIRUnits() const = 0;

private:
  TypeID actionID;
  ArrayRef<IRUnit> irUnits;
};
static_assert(sizeof(Action) == 32);

/// Returns what tells the class of an action: its table of virtual functions.
inline const void *classOf(const Action &action) {
  return *reinterpret_cast<const void *const *>(&action);
}

/// Remembers which class of actions has a tag: most dispatches then compare
/// one pointer.
class ActionClass {
public:
  explicit constexpr ActionClass(const char *tag) : tag(tag) {}

  bool contains(const Action &action) {
    const void *table = classOf(action);
    if (LLVM_LIKELY(table == known))
      return true;
    if (action.getTag() != tag)
      return false;
    known = table;
    return true;
  }

private:
  const char *tag;
  const void *volatile known = nullptr;
};

} // namespace mlir::tracing
