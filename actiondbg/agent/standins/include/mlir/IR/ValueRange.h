//===- ValueRange.h - Ranges of values --------------------------*- C++ -*-===//
//
// ValueRange and TypeRange cross into the tool: an owner and a count. What the
// owner is stands in its lowest bits.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Value.h"

namespace mlir {
namespace detail {

/// A range by indices: `Derived` has `Element at(size_t) const` and can be made
/// of itself, a start and a size.
template <typename Derived, typename Element> class IndexedRange {
public:
  class iterator {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_reference_t<Element>;
    using difference_type = ptrdiff_t;
    using pointer = value_type *;
    using reference = Element;

    iterator(const Derived &range, size_t index) : range(range), index(index) {}

    Element operator*() const { return range.at(index); }
    iterator &operator++() {
      ++index;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++index;
      return before;
    }
    ptrdiff_t operator-(const iterator &other) const {
      return ptrdiff_t(index) - ptrdiff_t(other.index);
    }
    bool operator==(const iterator &other) const {
      return index == other.index;
    }

  private:
    Derived range;
    size_t index;
  };

  iterator begin() const { return iterator(self(), 0); }
  iterator end() const { return iterator(self(), self().size()); }
  bool empty() const { return self().size() == 0; }
  Element operator[](size_t index) const { return self().at(index); }
  Element front() const { return self().at(0); }
  Derived slice(size_t start, size_t count) const {
    return Derived(self(), start, count);
  }
  Derived take_front(size_t count = 1) const {
    return slice(0, std::min(count, self().size()));
  }

private:
  const Derived &self() const { return static_cast<const Derived &>(*this); }
};

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

class OperandRange : public detail::IndexedRange<OperandRange, Value> {
public:
  OperandRange(const OpOperand *base, size_t count)
      : base(base), count(count) {}
  OperandRange(const OperandRange &other, size_t start, size_t count)
      : base(other.base + start), count(count) {}

  size_t size() const { return count; }
  Value at(size_t index) const { return base[index].get(); }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(base); }

private:
  const OpOperand *base;
  size_t count;
};

class ResultRange : public detail::IndexedRange<ResultRange, OpResult> {
public:
  ResultRange(Operation *op, unsigned count) : op(op), count(count) {}
  ResultRange(const ResultRange &other, size_t start, size_t count)
      : op(other.op), first(other.first + start), count(count) {}

  size_t size() const { return count; }
  OpResult at(size_t index) const {
    return OpResult(detail::resultOf(op, unsigned(first + index)));
  }

private:
  friend class ValueRange;

  Operation *op;
  size_t first = 0, count;
};

/// The types of results.
class ResultTypeRange : public detail::IndexedRange<ResultTypeRange, Type> {
public:
  explicit ResultTypeRange(ResultRange results) : results(results) {}
  ResultTypeRange(const ResultTypeRange &other, size_t start, size_t count)
      : results(other.results.slice(start, count)) {}

  size_t size() const { return results.size(); }
  Type at(size_t index) const { return results.at(index).getType(); }
  uintptr_t address() const {
    return results.empty()
               ? 0
               : reinterpret_cast<uintptr_t>(results.front().getImpl());
  }

private:
  ResultRange results;
};

class ValueRange : public detail::IndexedRange<ValueRange, Value> {
public:
  ValueRange() = default;
  ValueRange(ArrayRef<Value> values)
      : owner(reinterpret_cast<uintptr_t>(values.data()) | OfValues),
        count(values.size()) {}
  ValueRange(const SmallVectorImpl<Value> &values)
      : ValueRange(ArrayRef<Value>(values.data(), values.size())) {}
  ValueRange(ResultRange results)
      : owner(results.empty()
                  ? 0
                  : reinterpret_cast<uintptr_t>(results.front().getImpl()) |
                        OfResults),
        count(results.size()) {}
  ValueRange(OperandRange operands)
      : owner(operands.address() | OfOperands), count(operands.size()) {}
  ValueRange(const ValueRange &other, size_t start, size_t count)
      : owner(other.from(start)), count(count) {}

  size_t size() const { return count; }
  Value at(size_t index) const {
    uintptr_t address = from(index);
    auto *there = reinterpret_cast<void *>(address & ~uintptr_t(Mask));
    switch (address & Mask) {
    case OfValues:
      return *static_cast<const Value *>(there);
    case OfOperands:
      return static_cast<const OpOperand *>(there)->get();
    default:
      return static_cast<Value::Impl *>(there);
    }
  }

  adbg::tool::Range asTool() const { return {owner, count}; }

private:
  /// What the owner is. The bits are those of a union of three pointers with
  /// three free bits.
  enum : uintptr_t { OfValues = 0, OfOperands = 2, OfResults = 4, Mask = 6 };

  inline uintptr_t from(size_t index) const;

  uintptr_t owner = 0;
  size_t count = 0;
};

/// Only passed on.
/// Types, or the types of values.
class TypeRange : public detail::IndexedRange<TypeRange, Type> {
public:
  TypeRange() = default;
  TypeRange(ArrayRef<Type> types)
      : owner(reinterpret_cast<uintptr_t>(types.data()) | OfTypes),
        count(types.size()) {}
  TypeRange(OperandRange operands)
      : owner(operands.address() | OfOperands), count(operands.size()) {}
  TypeRange(ResultTypeRange types)
      : owner(types.address() | OfResults), count(types.size()) {}

  size_t size() const { return count; }
  Type at(size_t index) const {
    auto *there = reinterpret_cast<void *>(owner & ~uintptr_t(Mask));
    switch (owner & Mask) {
    case OfValues:
      return static_cast<const Value *>(there)[index].getType();
    case OfTypes:
      return static_cast<const Type *>(there)[index];
    case OfOperands:
      return static_cast<const OpOperand *>(there)[index].get().getType();
    default:
      return typeOfResult(there, index);
    }
  }

private:
  /// As in ValueRange, with four pointers.
  enum : uintptr_t {
    OfValues = 0,
    OfTypes = 2,
    OfOperands = 4,
    OfResults = 6,
    Mask = 6
  };

  inline static Type typeOfResult(void *first, size_t index);

  uintptr_t owner = 0;
  size_t count = 0;
};
struct BlockRange {
  uintptr_t owner;
  size_t count;
};
struct RegionRange {
  uintptr_t owner;
  size_t count;
};

} // namespace mlir
