//===- OperationSupport.h - Names, lists, contexts and values ---*- C++ -*-===//

#pragma once

#include "layout/ToolFunctions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace adbg {

/// A node of a ring; the one that belongs to the list itself is its end. In
/// builds with ABI-breaking checks the end has a flag in its first word.
struct ListNode {
  uintptr_t prevAndFlag;
  ListNode *next;

  ListNode *getNext() const { return next; }
  ListNode *getPrev() const {
    return reinterpret_cast<ListNode *>(prevAndFlag & ~uintptr_t(7));
  }
};

/// Passed to and from the tool: one pointer.
template <typename T, typename Node = ListNode> class ListIterator {
public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = T;
  using difference_type = ptrdiff_t;
  using pointer = T *;
  using reference = T &;

  explicit ListIterator(Node *node = nullptr) : node(node) {}

  T &operator*() const { return *static_cast<T *>(node); }
  T *operator->() const { return static_cast<T *>(node); }
  ListIterator &operator++() {
    node = node->getNext();
    return *this;
  }
  ListIterator operator++(int) {
    ListIterator before = *this;
    ++*this;
    return before;
  }
  ListIterator &operator--() {
    node = node->getPrev();
    return *this;
  }
  bool operator==(const ListIterator &other) const {
    return node == other.node;
  }
  Node *getNodePtr() const { return node; }

private:
  Node *node;
};

} // namespace adbg

namespace mlir {

class TypeID : public Handle<TypeID, struct TypeIDStorage> {
public:
  using Handle::Handle;
};

namespace detail {
struct FallbackTypeIDResolver {
  /// Returns no ID if the tool lacks the function.
  ADBG_STAND_IN static TypeID registerImplicitTypeID(StringRef name) {
    return adbg::tool::registerTypeID ? adbg::tool::registerTypeID(name)
                                      : TypeID();
  }
};
} // namespace detail

class DialectRegistry;
class OpAsmPrinter;

/// Only passed on.
class NamedAttrList;
struct OperationState;

class OpaqueProperties {
public:
  OpaqueProperties(void *properties) : properties(properties) {}

  template <typename T> T as() const { return static_cast<T>(properties); }

private:
  void *properties;
};

/// An element of the list of interfaces that an operation implements, which is
/// sorted by the address of the ID.
struct InterfaceEntry {
  TypeID id;
  void *concept_;
};

namespace detail {

/// The functions of an operation's class, in the order of their table.
struct InterfaceConcept {
  virtual ~InterfaceConcept() = default;
  virtual LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands,
                                 void *results) = 0;
  virtual void getCanonicalizationPatterns(void *patterns,
                                           MLIRContext *context) = 0;
  virtual bool hasTrait(TypeID id) = 0;
  virtual void getParseAssemblyFn() = 0;
  virtual void populateDefaultAttrs(const OperationName &, void *) = 0;
  virtual void printAssembly(Operation *op, OpAsmPrinter &printer,
                             StringRef dialect) = 0;
  virtual LogicalResult verifyInvariants(Operation *op) = 0;
};

struct OperationClass : InterfaceConcept {
  StringAttr name;
  TypeID typeID;
  Dialect *dialect;
  SmallVector<InterfaceEntry, 3> interfaces;
  ArrayRef<StringAttr> attributeNames;
};

} // namespace detail

class OperationName : public Handle<OperationName, detail::OperationClass> {
public:
  using Handle::Handle;
  ADBG_STAND_IN OperationName(StringRef name, MLIRContext *context) {
    adbg::tool::makeName(this, name, context);
  }

  StringAttr getIdentifier() const { return impl->name; }
  StringRef getStringRef() const { return impl->name.getValue(); }
  /// An operation that is not registered has the ID of `void`.
  bool isRegistered() const {
    return getTypeID().getAsOpaquePointer() != &adbg::tool::voidID;
  }
  TypeID getTypeID() const { return impl->typeID; }
  bool hasTrait(TypeID id) const { return impl->hasTrait(id); }
  LogicalResult verifyInvariants(Operation *op) const {
    return impl->verifyInvariants(op);
  }
  ArrayRef<StringAttr> getAttributeNames() const {
    return impl->attributeNames;
  }
  /// Returns the functions of an interface; null if there are none.
  void *getInterface(TypeID id) const {
    for (const InterfaceEntry &one : impl->interfaces)
      if (one.id == id)
        return one.concept_;
    return nullptr;
  }
  template <typename T> bool hasInterface() const {
    return getInterface(T::getInterfaceID());
  }
};

/// Made by the tool, in more memory than it needs in any version.
class OpPrintingFlags {
public:
  ADBG_STAND_IN OpPrintingFlags() { adbg::tool::makeFlags(&bytes); }

  ADBG_STAND_IN OpPrintingFlags &useLocalScope() {
    return adbg::tool::useLocalScope ? set(adbg::tool::useLocalScope, true)
                                     : set(adbg::tool::useLocalScope19);
  }
  ADBG_STAND_IN OpPrintingFlags &assumeVerified() {
    return adbg::tool::assumeVerified ? set(adbg::tool::assumeVerified, true)
                                      : set(adbg::tool::assumeVerified19);
  }
  ADBG_STAND_IN OpPrintingFlags &skipRegions() {
    return set(adbg::tool::skipRegions, true);
  }
  ADBG_STAND_IN OpPrintingFlags &printGenericOpForm(bool enable = true) {
    isGeneric = enable;
    return set(adbg::tool::printGeneric, enable);
  }
  ADBG_STAND_IN OpPrintingFlags &enableDebugInfo(bool enable = true,
                                                 bool prettyForm = false) {
    return set(adbg::tool::enableDebugInfo, enable, prettyForm);
  }
  ADBG_STAND_IN OpPrintingFlags &elideLargeElementsAttrs(int64_t most = 16) {
    return set(adbg::tool::elideElements, most);
  }
  ADBG_STAND_IN OpPrintingFlags &elideLargeResourceString(int64_t most = 64) {
    return set(adbg::tool::elideResources, most);
  }

  ADBG_STAND_IN bool shouldPrintGenericOpForm() const { return isGeneric; }

  const void *asTool() const { return &bytes; }
  const adbg::tool::FlagsArgument &asArgument() const { return bytes; }

private:
  template <typename... Args>
  ADBG_STAND_IN OpPrintingFlags &set(void (*function)(void *, Args...),
                                     std::type_identity_t<Args>... args) {
    if (function)
      function(&bytes, args...);
    return *this;
  }

  // 48 bytes in LLVM 19 to 22.
  alignas(16) adbg::tool::FlagsArgument bytes = {};
  bool isGeneric = false;
};

struct OperationEquivalence {
  enum Flags { None = 0, IgnoreLocations = 1 };

  /// False if the tool lacks the function.
  ADBG_STAND_IN static bool isEquivalentTo(Operation *op, Operation *other,
                                           Flags flags) {
    return adbg::tool::isEquivalent &&
           adbg::tool::isEquivalent(op, other, flags);
  }
};

/// The tool's: never made here.
class MLIRContext {
public:
  enum class Threading { DISABLED, ENABLED };

  MLIRContext() = delete;
  MLIRContext(const MLIRContext &) = delete;

  ADBG_STAND_IN bool isMultithreadingEnabled() {
    return adbg::tool::isThreaded && adbg::tool::isThreaded(this);
  }
  ADBG_STAND_IN void enterMultiThreadedExecution() {
    adbg::tool::enterThreads(this);
  }
  ADBG_STAND_IN void exitMultiThreadedExecution() {
    adbg::tool::exitThreads(this);
  }
  /// Returns the names of the registered operations; none if the tool lacks the
  /// function.
  ADBG_STAND_IN ArrayRef<OperationName> getRegisteredOperations() {
    return adbg::tool::registeredOperations
               ? adbg::tool::registeredOperations(this)
               : ArrayRef<OperationName>();
  }
};

using RegisteredOperationName = OperationName;

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

/// Returns how many bytes before its operation a result is placed.
constexpr size_t distanceOf(unsigned number) {
  constexpr unsigned most = OpResultImpl::getMaxInlineResults();
  return number < most ? (number + 1) * sizeof(OpResultImpl)
                       : most * sizeof(OpResultImpl) +
                             (number - most + 1) * sizeof(OutOfLineOpResult);
}
inline OpResultImpl *resultOf(const void *op, unsigned number) {
  auto address = reinterpret_cast<uintptr_t>(op) - distanceOf(number);
  return reinterpret_cast<OpResultImpl *>(address);
}

struct BlockArgumentImpl : ValueImpl {
  Block *owner;
  int64_t index;
  const Location::ImplType *loc;
};

/// An element of the list of uses of a value or a block.
template <typename Derived> struct IROperand {
  Derived *nextUse;
  Derived **back;
  Operation *owner;

  Operation *getOwner() const { return owner; }
  Derived *getNext() const { return nextUse; }

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

} // namespace detail

class Value : public Handle<Value, detail::ValueImpl> {
public:
  using Handle::Handle;
  using use_iterator = adbg::ListIterator<OpOperand, OpOperand>;

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
  Operation *getOwner() const {
    auto address = reinterpret_cast<uintptr_t>(impl);
    return reinterpret_cast<Operation *>(address +
                                         detail::distanceOf(getResultNumber()));
  }
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
      OpResult first(static_cast<Value::ImplType *>(there));
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
