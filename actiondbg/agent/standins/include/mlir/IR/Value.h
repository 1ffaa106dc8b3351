//===- Value.h - Values, their uses and ranges ------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir {

class OpOperand;
class OpResult;
class BlockArgument;

namespace detail {

/// A type and three bits.
struct TypeAndKind {
  uintptr_t bits;

  Type getPointer() const {
    return Type::getFromOpaquePointer(reinterpret_cast<void *>(bits & ~7));
  }
  unsigned getInt() const { return bits & 7; }
  const void *getOpaqueValue() const {
    return reinterpret_cast<const void *>(bits);
  }
};

struct ValueImpl {
  OpOperand *firstUse;
  TypeAndKind typeAndKind;
};

/// A result, placed before its operation: the first six next to it, in
/// descending order, then the others.
struct OpResultImpl : ValueImpl {
  static constexpr unsigned getMaxInlineResults() { return 6; }
};

struct OutOfLineOpResult : OpResultImpl {
  int64_t outOfLineIndex;
};

/// The kinds of values: up to 5 the number of a result.
constexpr unsigned outOfLineResult = 6, blockArgument = 7;

struct BlockArgumentImpl : ValueImpl {
  Block *owner;
  int64_t index;
  const LocationAttr::ImplType *loc;
};

/// An element of the list of uses of a value or a block.
template <typename Derived> struct IROperand {
  Derived *nextUse;
  Derived **back;
  Operation *owner;

  Operation *getOwner() const { return owner; }

protected:
  /// Moves this use to another list of uses; null for none.
  void moveTo(Derived **first) {
    if (back) {
      *back = nextUse;
      if (nextUse)
        nextUse->back = back;
    }
    back = first;
    nextUse = first ? *first : nullptr;
    if (nextUse)
      nextUse->back = &nextUse;
    if (first)
      *first = static_cast<Derived *>(this);
  }
};

template <typename Operand> class UseIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Operand;
  using difference_type = ptrdiff_t;
  using pointer = Operand *;
  using reference = Operand &;

  UseIterator(Operand *use = nullptr) : use(use) {}

  Operand &operator*() const { return *use; }
  Operand *operator->() const { return use; }
  UseIterator &operator++() {
    use = use->nextUse;
    return *this;
  }
  UseIterator operator++(int) {
    UseIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(UseIterator other) const { return use == other.use; }

private:
  Operand *use;
};

} // namespace detail

class Value {
public:
  using Impl = detail::ValueImpl;
  using use_iterator = detail::UseIterator<OpOperand>;

  constexpr Value(Impl *impl = nullptr) : impl(impl) {}
  Value(std::nullptr_t) {}

  static Value getFromOpaquePointer(const void *pointer) {
    return static_cast<Impl *>(const_cast<void *>(pointer));
  }

  explicit operator bool() const { return impl; }
  bool operator!() const { return !impl; }
  bool operator==(const Value &other) const { return impl == other.impl; }

  const void *getAsOpaquePointer() const { return impl; }
  Impl *getImpl() const { return impl; }

  Type getType() const { return impl->typeAndKind.getPointer(); }
  /// Returns the operation that the value is a result of, or null.
  inline Operation *getDefiningOp() const;
  inline Block *getParentBlock() const;
  inline Region *getParentRegion() const;

  use_iterator use_begin() const { return use_iterator(impl->firstUse); }
  use_iterator use_end() const { return use_iterator(); }
  auto getUses() const { return std::ranges::subrange(use_begin(), use_end()); }
  bool use_empty() const { return !impl->firstUse; }
  inline void replaceAllUsesWith(Value other) const;
  void setType(Type type) {
    auto address = reinterpret_cast<uintptr_t>(type.getAsOpaquePointer());
    impl->typeAndKind.bits = address | impl->typeAndKind.getInt();
  }
  inline auto getUsers() const;

  ADBG_STAND_IN inline void print(raw_ostream &os,
                                  const OpPrintingFlags &flags) const;
  ADBG_STAND_IN inline void printAsOperand(raw_ostream &os,
                                           AsmState &state) const;

protected:
  Impl *impl = nullptr;
};

class OpResult : public Value {
public:
  using Value::Value;
  explicit OpResult(Value value) : Value(value) {}

  static bool classof(Value value) {
    return value.getImpl()->typeAndKind.getInt() != detail::blockArgument;
  }

  unsigned getResultNumber() const {
    unsigned kind = impl->typeAndKind.getInt();
    if (kind < detail::outOfLineResult)
      return kind;
    auto *result = static_cast<const detail::OutOfLineOpResult *>(impl);
    return detail::outOfLineResult + unsigned(result->outOfLineIndex);
  }
  inline Operation *getOwner() const;
};

class BlockArgument : public Value {
public:
  using Value::Value;
  explicit BlockArgument(Value value) : Value(value) {}

  static bool classof(Value value) {
    return value.getImpl()->typeAndKind.getInt() == detail::blockArgument;
  }

  Block *getOwner() const { return argument().owner; }
  unsigned getArgNumber() const { return unsigned(argument().index); }
  Location getLoc() const { return Location(argument().loc); }

private:
  const detail::BlockArgumentImpl &argument() const {
    return *static_cast<const detail::BlockArgumentImpl *>(impl);
  }
};

class OpOperand : public detail::IROperand<OpOperand> {
public:
  Value get() const { return value; }
  void set(Value other) {
    value = other;
    moveTo(other ? &other.getImpl()->firstUse : nullptr);
  }
  inline unsigned getOperandNumber();

private:
  Value value;
};

inline auto Value::getUsers() const {
  return std::views::transform(
      getUses(), [](const OpOperand &use) { return use.getOwner(); });
}
inline void Value::replaceAllUsesWith(Value other) const {
  while (OpOperand *use = impl->firstUse)
    use->set(other);
}

class BlockOperand : public detail::IROperand<BlockOperand> {
public:
  Block *get() const { return value; }
  inline void set(Block *block);

private:
  Block *value;
};

} // namespace mlir

template <> struct std::hash<mlir::Value> {
  size_t operator()(mlir::Value value) const {
    return std::hash<const void *>()(value.getAsOpaquePointer());
  }
};

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
