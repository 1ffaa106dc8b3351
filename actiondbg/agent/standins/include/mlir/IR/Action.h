//===- Action.h - Actions ---------------------------------------*- C++ -*-===//

#ifndef ACTIONDBG_MLIR_ACTION_H
#define ACTIONDBG_MLIR_ACTION_H

#include "mlir/IR/Unit.h"

namespace mlir::tracing {

/// The tool's, with the functions of its class in this order.
class Action {
public:
  virtual ~Action() = default;

  TypeID getActionID() const { return actionID; }
  virtual StringRef getTag() const = 0;
  virtual void print(raw_ostream &os) const = 0;
  virtual ArrayRef<IRUnit> getContextIRUnits() const = 0;

private:
  TypeID actionID;
  ArrayRef<IRUnit> irUnits;
};
static_assert(sizeof(Action) == 32);

/// Remembers which class of actions has a tag: most dispatches then compare
/// one pointer.
class ActionClass {
public:
  explicit constexpr ActionClass(const char *tag) : tag(tag) {}

  bool contains(const Action &action) {
    const void *id = action.getActionID().getAsOpaquePointer();
    if (LLVM_LIKELY(known && id == known))
      return true;
    if (action.getTag() != tag)
      return false;
    known = id;
    return true;
  }

private:
  const char *tag;
  const void *volatile known = nullptr;
};

} // namespace mlir::tracing

namespace llvm {
template <typename To> struct CastInfo<To, mlir::tracing::Action> {
  static bool isPossible(const mlir::tracing::Action &action) {
    return To::classof(&action);
  }
};
} // namespace llvm

#endif // ACTIONDBG_MLIR_ACTION_H
