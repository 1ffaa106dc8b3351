//===- ValueRange.h - Ranges of values --------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Value.h"

namespace mlir {
namespace detail {

/// Returns the result of an operation before which it is placed.
inline OpResultImpl *resultOf(const void *op, unsigned number) {
  auto address = reinterpret_cast<uintptr_t>(op);
  constexpr unsigned most = OpResultImpl::getMaxInlineResults();
  address -= number < most
                 ? (number + 1) * sizeof(OpResultImpl)
                 : most * sizeof(OpResultImpl) +
                       (number - most + 1) * sizeof(OutOfLineOpResult);
  return reinterpret_cast<OpResultImpl *>(address);
}

} // namespace detail

/// Values that cross into the tool: an owner and a count. The lowest bits of
/// the owner hold its kind, as in a PointerUnion of three pointers with three
/// free bits each.
class ValueRange {
public:
  ValueRange(ArrayRef<Value> values)
      : owner(reinterpret_cast<uintptr_t>(values.data()) | OfValues),
        count(values.size()) {}
  /// The results of an operation.
  inline ValueRange(const Operation *op);
  inline static ValueRange ofOperands(const Operation *op);

  /// The values, as long as this lives.
  auto values() const {
    return std::views::transform(std::views::iota(0u, unsigned(count)),
                                 [this](unsigned i) { return at(i); });
  }
  adbg::tool::Range asTool() const { return {owner, count}; }

private:
  enum : uintptr_t { OfValues = 0, OfOperands = 2, OfResults = 4, Mask = 6 };

  ValueRange(const void *first, uintptr_t kind, size_t count)
      : owner(reinterpret_cast<uintptr_t>(first) | kind), count(count) {}

  Value at(unsigned index) const {
    auto *there = reinterpret_cast<void *>(owner & ~uintptr_t(Mask));
    switch (owner & Mask) {
    case OfValues:
      return static_cast<const Value *>(there)[index];
    case OfOperands:
      return static_cast<const OpOperand *>(there)[index].get();
    default:
      OpResult first(static_cast<Value::Impl *>(there));
      return detail::resultOf(first.getOwner(),
                              first.getResultNumber() + index);
    }
  }

  uintptr_t owner;
  size_t count;
};

// Only passed on.
using TypeRange = adbg::tool::Range;
using BlockRange = adbg::tool::Range;
using RegionRange = adbg::tool::Range;

} // namespace mlir
