//===- Operation.h - Operations, blocks and regions -------------*- C++ -*-===//
//
// The objects belong to the tool: none is ever made or copied here. Members are
// those that are placed alike in all versions; Layout has the others.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "layout/Layout.h"
#include "mlir/IR/OperationSupport.h"

namespace llvm {

/// What notifies of changes to a list; the address of the list itself.
template <typename T> struct ilist_traits;

template <> struct ilist_traits<mlir::Operation> {
  using op_iterator = adbg::ListIterator<mlir::Operation>;

  inline mlir::Block *getContainingBlock();
};

template <> struct ilist_traits<mlir::Block> {
  using block_iterator = adbg::ListIterator<mlir::Block>;
};

} // namespace llvm

namespace mlir {

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

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
template <WalkOrder order, typename Callback>
WalkResult walk(Operation *op, Callback &callback);
} // namespace detail

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Operation : public adbg::ListNode {
public:
  /// Only passed on: its address or itself, whichever the tool's is passed by.
  struct CloneOptions {
    uintptr_t word;
  };

  Operation() = delete;
  Operation(const Operation &) = delete;

  OperationName getName() const { return name; }
  Location getLoc() const { return location; }
  MLIRContext *getContext() const {
    return adbg::tool::contextOf ? adbg::tool::contextOf(&location) : nullptr;
  }
  bool isRegistered() const { return name.isRegistered(); }

  Block *getBlock() const { return block; }
  inline Region *getParentRegion() const;
  ADBG_STAND_IN inline Operation *getParentOp() const;
  bool isProperAncestor(Operation *other) const {
    while ((other = other->getParentOp()))
      if (other == this)
        return true;
    return false;
  }
  bool isAncestor(Operation *other) const {
    return this == other || isProperAncestor(other);
  }
  /// Returns the next operation of its block, or null.
  inline Operation *getNextNode() const;
  inline Operation *getPrevNode() const;

  unsigned getNumOperands() const { return operandArray().size(); }
  ArrayRef<OpOperand> operandArray() const {
    if (!hasOperandStorage || LLVM_UNLIKELY(!adbg::Layout::offsets.hasValues))
      return {};
    return {storage().operands, storage().count};
  }
  std::span<OpOperand> getOpOperands() const {
    ArrayRef<OpOperand> all = operandArray();
    return {const_cast<OpOperand *>(all.data()), all.size()};
  }
  auto getOperands() const {
    return std::views::transform(
        operandArray(), [](const OpOperand &one) { return one.get(); });
  }
  Value getOperand(unsigned index) const { return operandArray()[index].get(); }

  unsigned getNumResults() const {
    return LLVM_LIKELY(adbg::Layout::offsets.hasValues) ? numResults : 0;
  }
  OpResult getResult(unsigned index) const {
    return OpResult(detail::resultOf(this, index));
  }
  auto getResults() const {
    return std::views::transform(std::views::iota(0u, getNumResults()),
                                 [this](unsigned i) { return getResult(i); });
  }
  auto getResultTypes() const {
    return std::views::transform(getResults(),
                                 [](OpResult one) { return one.getType(); });
  }
  auto getOperandTypes() const {
    return std::views::transform(getOperands(),
                                 [](Value one) { return one.getType(); });
  }
  bool use_empty() {
    for (OpResult result : getResults())
      if (!result.use_empty())
        return false;
    return true;
  }
  /// Returns the users of all results, one result after the other.
  std::vector<Operation *> getUsers() {
    std::vector<Operation *> users;
    for (OpResult result : getResults())
      for (Operation *user : result.getUsers())
        users.push_back(user);
    return users;
  }

  unsigned getNumSuccessors() const { return numSuccs; }
  std::span<BlockOperand> getBlockOperands() const {
    return {reinterpret_cast<BlockOperand *>(behindProperties()), numSuccs};
  }
  std::vector<Block *> getSuccessors() const {
    std::vector<Block *> blocks;
    for (BlockOperand &successor : getBlockOperands())
      blocks.push_back(successor.get());
    return blocks;
  }

  unsigned getNumRegions() const {
    return LLVM_LIKELY(adbg::Layout::offsets.hasRegions) ? numRegions : 0;
  }
  Region &getRegion(unsigned index) const {
    return *reinterpret_cast<Region *>(
        regionsBegin() + size_t(index) * adbg::Layout::offsets.regionSize);
  }
  auto getRegions() const {
    return std::views::transform(
        std::views::iota(0u, getNumRegions()),
        [this](unsigned i) -> Region & { return getRegion(i); });
  }

  DictionaryAttr getRawDictionaryAttrs() const { return attrs; }
  /// All attributes, the inherent ones included.
  ADBG_STAND_IN DictionaryAttr getAttrDictionary() {
    if (!getPropertiesStorageSize() || !adbg::tool::attributesOf)
      return attrs;
    return adbg::tool::attributesOf(this);
  }
  DictionaryAttr getDiscardableAttrDictionary() const { return attrs; }
  ADBG_STAND_IN std::optional<Attribute> getInherentAttr(StringRef name) {
    return adbg::tool::inherentAttribute
               ? adbg::tool::inherentAttribute(this, name)
               : std::nullopt;
  }
  template <typename Name> Attribute getAttr(Name name) {
    if (getPropertiesStorageSize())
      if (std::optional<Attribute> inherent = getInherentAttr(name))
        return *inherent;
    return attrs.get(name);
  }
  template <typename T, typename Name> T getAttrOfType(Name name) {
    return llvm::dyn_cast_if_present<T>(getAttr(name));
  }

  int getPropertiesStorageSize() const { return int(properties) * 8; }
  OpaqueProperties getPropertiesStorage() const {
    return OpaqueProperties(properties ? behindStorage() : nullptr);
  }
  ADBG_STAND_IN Attribute getPropertiesAsAttribute() {
    if (!getPropertiesStorageSize() || !adbg::tool::propertiesOf)
      return nullptr;
    return adbg::tool::propertiesOf(this);
  }
  ADBG_STAND_IN size_t hashProperties() {
    return adbg::tool::hashProperties ? adbg::tool::hashProperties(this) : 0;
  }

  //===--------------------------------------------------------------------===//
  // Changes: only where the tool has the functions
  //===--------------------------------------------------------------------===//

  void setLoc(Location loc) { location = loc; }
  void setDiscardableAttrs(DictionaryAttr all) { attrs = all; }
  /// Sets the properties, too.
  ADBG_STAND_IN void setAttrs(DictionaryAttr all) {
    adbg::tool::setAttributes(this, all);
  }
  ADBG_STAND_IN void setOperands(ValueRange values) {
    adbg::tool::setOperands(this, values.asTool());
  }
  /// The function took the class of the properties, too, from LLVM 23 on; only
  /// builds with assertions look at that, where attributes are copied.
  ADBG_STAND_IN void copyPropertiesOf(Operation *from) {
    auto *storage = from->getPropertiesStorage().as<void *>();
    if (adbg::tool::copyProperties)
      return adbg::tool::copyProperties(this, storage);
    if (adbg::tool::copyTypedProperties && !adbg::Layout::offsets.hasChecks)
      return adbg::tool::copyTypedProperties(this, nullptr, storage);
    for (NamedAttribute one : getAttrDictionary())
      if (getInherentAttr(one.getName()) &&
          !from->getInherentAttr(one.getName()))
        adbg::tool::setInherentAttribute(this, one.getName(), nullptr);
    setAttrs(from->getAttrDictionary());
  }
  Block *getSuccessor(unsigned index) const {
    return getBlockOperands()[index].get();
  }
  void setSuccessor(Block *block, unsigned index) {
    getBlockOperands()[index].set(block);
  }
  ADBG_STAND_IN void moveBefore(Block *block,
                                adbg::ListIterator<Operation> place) {
    adbg::tool::moveOperation(this, block, place.getNodePtr());
  }
  ADBG_STAND_IN void remove() { adbg::tool::removeOperation(this); }
  ADBG_STAND_IN void erase() { adbg::tool::eraseOperation(this); }
  ADBG_STAND_IN void dropAllReferences() { adbg::tool::dropReferencesOf(this); }
  ADBG_STAND_IN void dropAllDefinedValueUses() { adbg::tool::dropUsesOf(this); }

  template <WalkOrder order = WalkOrder::PostOrder, typename Callback>
  auto walk(Callback &&callback) {
    WalkResult result = detail::walk<order>(this, callback);
    if constexpr (!std::is_void_v<std::invoke_result_t<Callback, Operation *>>)
      return result;
  }

  ADBG_STAND_IN void print(raw_ostream &os,
                           const OpPrintingFlags &flags = OpPrintingFlags()) {
    if (adbg::tool::printOperation && adbg::Layout::offsets.canPrint)
      adbg::tool::printOperation(this, os, flags.asTool());
  }
  ADBG_STAND_IN inline void print(raw_ostream &os, AsmState &state);

private:
  friend class adbg::Layout;

  struct OperandStorage {
    unsigned capacity;
    unsigned count;
    OpOperand *operands;
  };

  const OperandStorage &storage() const {
    return *reinterpret_cast<const OperandStorage *>(this + 1);
  }
  char *behindStorage() const {
    auto *end = reinterpret_cast<char *>(const_cast<Operation *>(this + 1));
    return end + (hasOperandStorage ? sizeof(OperandStorage) : 0);
  }
  char *behindProperties() const {
    return behindStorage() + getPropertiesStorageSize();
  }
  char *regionsBegin() const {
    return behindProperties() + numSuccs * sizeof(BlockOperand);
  }

  Block *block;
  Location location;
  unsigned orderIndex;
  unsigned numResults;
  unsigned numSuccs;
  unsigned numRegions : 23;
  unsigned hasOperandStorage : 1;
  unsigned properties : 8;
  OperationName name;
  // Digest reads it.
public:
  DictionaryAttr attrs;
};
static_assert(sizeof(Operation) == 64);

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

struct BlockUses {
  BlockOperand *firstUse;
};

class Block : public BlockUses, public adbg::ListNode {
public:
  using iterator = adbg::ListIterator<Operation>;

  Block() = delete;
  Block(const Block &) = delete;

  /// The lowest bit is a flag of the block.
  Region *getParent() const {
    if (LLVM_UNLIKELY(!adbg::Layout::offsets.hasRegions))
      return nullptr;
    return reinterpret_cast<Region *>(regionAndFlag & ~uintptr_t(7));
  }
  ADBG_STAND_IN inline Operation *getParentOp() const;
  inline bool isEntryBlock() const;
  inline Block *getNextNode() const;
  inline Block *getPrevNode() const;
  adbg::ListIterator<Block> getIterator() {
    return adbg::ListIterator<Block>(this);
  }
  std::reverse_iterator<adbg::ListIterator<Block>> getReverseIterator() {
    return std::make_reverse_iterator(std::next(getIterator()));
  }

  iterator begin() {
    return iterator(LLVM_LIKELY(adbg::Layout::offsets.hasRegions) ? list()->next
                                                                  : list());
  }
  iterator end() { return iterator(list()); }
  bool empty() { return begin() == end(); }
  /// The list of operations.
  Block &getOperations() { return *this; }
  size_t size() { return std::distance(begin(), end()); }
  Operation &front() { return *begin(); }
  Operation &back() { return *static_cast<Operation *>(list()->getPrev()); }

  ArrayRef<BlockArgument> getArguments() const {
    if (LLVM_UNLIKELY(!adbg::Layout::offsets.hasValues))
      return {};
    // A std::vector: its begin and its end.
    auto *const *ends = adbg::memberAt<const BlockArgument *const>(
        this, adbg::Layout::offsets.blockArguments);
    return {ends[0], size_t(ends[1] - ends[0])};
  }
  unsigned getNumArguments() const { return getArguments().size(); }
  BlockArgument getArgument(unsigned index) const {
    return getArguments()[index];
  }

  /// Returns the blocks that have this one as a successor, each as often as
  /// that.
  std::vector<Block *> getPredecessors() const {
    std::vector<Block *> blocks;
    for (BlockOperand *use = firstUse; use; use = use->nextUse)
      blocks.push_back(use->getOwner()->getBlock());
    return blocks;
  }

  void replaceAllUsesWith(Block *other) {
    while (BlockOperand *use = firstUse)
      use->set(other);
  }
  ADBG_STAND_IN void addArgument(Type type, Location loc) {
    adbg::tool::addArgument(this, type, loc);
  }
  ADBG_STAND_IN void eraseArguments(unsigned first, unsigned count) {
    adbg::tool::eraseArguments(this, first, count);
  }
  ADBG_STAND_IN void moveBefore(Region *region,
                                adbg::ListIterator<Block> place) {
    adbg::tool::moveBlock(this, region, place.getNodePtr());
  }
  ADBG_STAND_IN void dropAllReferences() {
    for (Operation &op : *this)
      op.dropAllReferences();
  }
  ADBG_STAND_IN void dropAllDefinedValueUses() {
    for (BlockArgument argument : getArguments())
      argument.replaceAllUsesWith(Value());
    for (Operation &op : *this)
      op.dropAllDefinedValueUses();
    replaceAllUsesWith(nullptr);
  }
  ADBG_STAND_IN void erase() { adbg::tool::eraseBlock(this); }

  ADBG_STAND_IN inline void print(raw_ostream &os, AsmState &state);

private:
  friend class adbg::Layout;

  adbg::ListNode *list() const {
    return adbg::memberAt<adbg::ListNode>(
        this, adbg::Layout::offsets.blockOperations);
  }

  uintptr_t regionAndFlag;
};
static_assert(sizeof(Block) == 32);

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

class alignas(8) Region {
public:
  using iterator = adbg::ListIterator<Block>;
  using reverse_iterator = std::reverse_iterator<iterator>;

  Region() = delete;
  Region(const Region &) = delete;

  Operation *getParentOp() const {
    if (LLVM_UNLIKELY(!adbg::Layout::offsets.hasRegions))
      return nullptr;
    return *adbg::memberAt<Operation *>(this,
                                        adbg::Layout::offsets.regionParent);
  }
  Region *getParentRegion() const {
    Operation *parent = getParentOp();
    return parent ? parent->getParentRegion() : nullptr;
  }
  unsigned getRegionNumber() const {
    auto *first = reinterpret_cast<const char *>(&getParentOp()->getRegion(0));
    return unsigned((reinterpret_cast<const char *>(this) - first) /
                    adbg::Layout::offsets.regionSize);
  }
  bool isAncestor(Region *other) const {
    for (; other; other = other->getParentRegion())
      if (other == this)
        return true;
    return false;
  }

  iterator begin() { return iterator(list()->next); }
  iterator end() { return iterator(list()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  bool empty() { return list()->next == list(); }
  Block &front() { return *begin(); }
  Block &back() { return *static_cast<Block *>(list()->getPrev()); }
  ArrayRef<BlockArgument> getArguments() {
    return empty() ? ArrayRef<BlockArgument>() : front().getArguments();
  }

private:
  friend class adbg::Layout;
  friend class Block;

  adbg::ListNode *list() const {
    return adbg::memberAt<adbg::ListNode>(this,
                                          adbg::Layout::offsets.regionBlocks);
  }
};

//===----------------------------------------------------------------------===//
// Members that need other classes
//===----------------------------------------------------------------------===//

namespace detail {
/// An element of a block or a region, or null for the end of its list.
template <typename T, typename Owner>
T *elementAt(adbg::ListNode *node, const Owner *owner) {
  bool isKnown = LLVM_LIKELY(adbg::Layout::offsets.hasRegions);
  return isKnown && node != owner->list() ? static_cast<T *>(node) : nullptr;
}
} // namespace detail

inline Region *Operation::getParentRegion() const {
  return block ? block->getParent() : nullptr;
}
inline Operation *Operation::getParentOp() const {
  return block ? block->getParentOp() : nullptr;
}
inline Operation *Operation::getNextNode() const {
  return detail::elementAt<Operation>(next, block);
}
inline Operation *Operation::getPrevNode() const {
  return detail::elementAt<Operation>(getPrev(), block);
}

inline Operation *Block::getParentOp() const {
  if (LLVM_UNLIKELY(!adbg::Layout::offsets.hasRegions))
    return adbg::Layout::parentOf(const_cast<Block *>(this));
  Region *region = getParent();
  return region ? region->getParentOp() : nullptr;
}
inline bool Block::isEntryBlock() const {
  Region *region = getParent();
  return region && &region->front() == this;
}
inline Block *Block::getNextNode() const {
  return detail::elementAt<Block>(next, getParent());
}
inline Block *Block::getPrevNode() const {
  return detail::elementAt<Block>(getPrev(), getParent());
}

inline void BlockOperand::set(Block *block) {
  value = block;
  moveTo(block ? &block->firstUse : nullptr);
}

inline Operation *Value::getDefiningOp() const {
  return OpResult::classof(*this) ? OpResult(*this).getOwner() : nullptr;
}
inline Block *Value::getParentBlock() const {
  Operation *op = getDefiningOp();
  return op ? op->getBlock() : BlockArgument(*this).getOwner();
}
inline Region *Value::getParentRegion() const {
  Block *block = getParentBlock();
  return block ? block->getParent() : nullptr;
}
inline void Value::print(raw_ostream &os, const OpPrintingFlags &flags) const {
  if (adbg::tool::printValue && adbg::Layout::offsets.canPrint)
    adbg::tool::printValue(this, os, flags.asTool());
}
inline unsigned OpOperand::getOperandNumber() {
  return unsigned(this - owner->operandArray().data());
}
inline ValueRange ValueRange::ofOperands(const Operation *op) {
  ArrayRef<OpOperand> all = op->operandArray();
  return {all.data(), OfOperands, all.size()};
}
inline ValueRange::ValueRange(const Operation *op)
    : ValueRange(op->getNumResults() ? op->getResult(0).getImpl() : nullptr,
                 OfResults, op->getNumResults()) {}

/// Succeeds if the tool has no verifier.
ADBG_STAND_IN inline LogicalResult verify(Operation *op,
                                          bool isRecursive = true) {
  return adbg::tool::verify ? adbg::tool::verify(op, isRecursive) : success();
}

namespace detail {
template <WalkOrder order, typename Callback>
WalkResult walk(Operation *op, Callback &callback) {
  constexpr bool isPre = order == WalkOrder::PreOrder;
  auto visit = [&] {
    if constexpr (std::is_void_v<std::invoke_result_t<Callback, Operation *>>)
      return callback(op), WalkResult::advance();
    else
      return callback(op);
  };
  if constexpr (isPre) {
    WalkResult result = visit();
    if (result.wasSkipped())
      return WalkResult::advance();
    if (result.wasInterrupted())
      return result;
  }
  for (Region &region : op->getRegions())
    for (auto it = region.begin(), end = region.end(); it != end;) {
      Block &block = *it++;
      for (auto inner = block.begin(), last = block.end(); inner != last;) {
        Operation &one = *inner++;
        if (walk<order>(&one, callback).wasInterrupted())
          return WalkResult::interrupt();
      }
    }
  return isPre ? WalkResult::advance() : visit();
}
} // namespace detail

} // namespace mlir

inline mlir::Block *llvm::ilist_traits<mlir::Operation>::getContainingBlock() {
  return reinterpret_cast<mlir::Block *>(reinterpret_cast<char *>(this) -
                                         adbg::Layout::offsets.blockOperations);
}
