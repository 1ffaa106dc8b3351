//===- InterposeIR.cpp - Functions that change IR -------------------------===//
//
// Lists of operations and blocks notify their traits of insertions and
// removals, so every change of that kind is observed, whatever its cause.
// MLIR's own Operation.cpp may bypass the exported traits, so its entry points
// are interposed too, and handling one change twice must be harmless. Changes
// in place are reported by rewriters only.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "print/ValueKeys.h"
#include "support/AgentHeap.h"

#include "mlir/IR/PatternMatch.h"

using namespace adbg;

extern "C++" {

//===----------------------------------------------------------------------===//
// Creation and destruction of operations
//===----------------------------------------------------------------------===//

/// The latest copy that was reported.
static thread_local Operation *lastCloned = nullptr;

static Operation *noteCreated(Operation *op) {
  lastCloned = nullptr; // it may have been where `op` is
  Engine &engine = Engine::get();
  if (LLVM_UNLIKELY(!engine.followsIR())) {
    if (engine.numbersIR())
      Identities::all().created(op);
    return op;
  }
  AgentHeap agentHeap;
  engine.observer.created(op);
  return op;
}

/// The operation that is being copied.
static thread_local Operation *cloning = nullptr;

/// Reports an operation that the tool creates otherwise than by a copy, and
/// returns it: a copy is reported as a whole, after the operations in it.
static Operation *noteNew(Operation *op) {
  return cloning ? op : noteCreated(op);
}

ADBG_INTERPOSE(Operation *, createFromList, ADBG_CREATE_LIST, Location loc,
               OperationName name, TypeRange types, ValueRange operands,
               NamedAttrList &&attributes, OpaqueProperties properties,
               BlockRange successors, unsigned regions) {
  static Original<decltype(createFromList)> next(ADBG_CREATE_LIST);
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromDictionary, ADBG_CREATE_DICTIONARY,
               Location loc, OperationName name, TypeRange types,
               ValueRange operands, DictionaryAttr attributes,
               OpaqueProperties properties, BlockRange successors,
               unsigned regions) {
  static Original<decltype(createFromDictionary)> next(ADBG_CREATE_DICTIONARY);
  return noteNew(next(loc, name, types, operands, attributes, properties,
                      successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromState, ADBG_CREATE_STATE,
               const OperationState &state) {
  static Original<decltype(createFromState)> next(ADBG_CREATE_STATE);
  return noteNew(next(state));
}

ADBG_INTERPOSE(Operation *, createFromRegions, ADBG_CREATE_REGIONS,
               Location loc, OperationName name, TypeRange types,
               ValueRange operands, NamedAttrList &&attributes,
               OpaqueProperties properties, BlockRange successors,
               RegionRange regions) {
  static Original<decltype(createFromRegions)> next(ADBG_CREATE_REGIONS);
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

// One of these functions may call another, through the PLT or not: only the
// innermost one that is observed reports the copy.
/// Reports the copy of an operation, and returns it.
static Operation *noteCloned(Operation *from, Operation *to) {
  Engine &engine = Engine::get();
  if (to == lastCloned)
    return to;
  if (LLVM_UNLIKELY(!engine.followsIR()))
    return noteCreated(to);
  // MLIR's own Operation.cpp creates it without a call that is observed.
  noteCreated(to);
  AgentHeap agentHeap;
  engine.observer.cloned(from, to);
  lastCloned = to;
  return to;
}

/// Makes a copy by `clone`; of functions that call each other for it, the one
/// that is called first reports it.
template <typename Clone>
static Operation *runClone(Operation *from, Clone clone) {
  bool isInner = cloning == from;
  Operation *outer = cloning;
  cloning = from;
  Operation *to = clone();
  cloning = outer;
  return isInner ? to : noteCloned(from, to);
}

ADBG_INTERPOSE(Operation *, cloneOperation, ADBG_CLONE, Operation *self,
               Operation::CloneOptions options) {
  static Original<decltype(cloneOperation)> next(ADBG_CLONE);
  return runClone(self, [&] { return next(self, options); });
}

ADBG_INTERPOSE(Operation *, cloneMapped, ADBG_CLONE_MAPPED, Operation *self,
               IRMapping &mapping, Operation::CloneOptions options) {
  static Original<decltype(cloneMapped)> next(ADBG_CLONE_MAPPED);
  return runClone(self, [&] { return next(self, mapping, options); });
}

ADBG_INTERPOSE(Operation *, cloneWithoutRegions, ADBG_CLONE_BARE,
               Operation *self) {
  static Original<decltype(cloneWithoutRegions)> next(ADBG_CLONE_BARE);
  return runClone(self, [&] { return next(self); });
}

ADBG_INTERPOSE(Operation *, cloneMappedWithoutRegions, ADBG_CLONE_BARE_MAPPED,
               Operation *self, IRMapping &mapping) {
  static Original<decltype(cloneMappedWithoutRegions)> next(
      ADBG_CLONE_BARE_MAPPED);
  return runClone(self, [&] { return next(self, mapping); });
}

/// An operation of a thread that is not followed now.
static void noteEndElsewhere(Engine &engine, Operation *op) {
  if (!engine.numbersIR())
    return;
  // It may be watched.
  std::optional<Turn> turn;
  if (!engine.observer.watches.empty())
    turn.emplace(engine, Turn::For::Event);
  AgentHeap agentHeap;
  if (turn && *turn)
    engine.observer.destroyed(op);
  else
    Identities::all().destroyed(op);
}

static void noteEnd(Operation *op) {
  Engine &engine = Engine::get();
  if (LLVM_UNLIKELY(!engine.followsIR()))
    return noteEndElsewhere(engine, op);
  AgentHeap agentHeap;
  if (engine.hasFrames()) {
    if (Operation *by = engine.observer.cseReplacement(op))
      engine.replaced(op, by->getResults(), /*isGuess=*/true);
    engine.erased(op);
  }
  engine.observer.destroyed(op);
}

/// Whether to leak an operation: a top-level operation that is destroyed
/// outside of actions has been written by then. A trial ends sooner without
/// destroying it, and a fork that prints it shares its memory.
static bool isLeaked(Operation *op) {
  Engine &engine = Engine::get();
  if (!engine.follows() || engine.hasFrames() || op->getBlock())
    return false;
  if (engine.forks.role == Role::Trial)
    return true;
  if (LLVM_LIKELY(!Recorder::keepsOutput()))
    return false;
  AgentHeap agentHeap;
  return Stages::ending(op, *engine.observer.recorder);
}

ADBG_INTERPOSE(void, destroyOperation, ADBG_DESTROY, Operation *self) {
  static Original<decltype(destroyOperation)> next(ADBG_DESTROY);
  if (isLeaked(self))
    return;
  noteEnd(self);
  next(self);
}

ADBG_INTERPOSE(void, eraseOperation, ADBG_ERASE, Operation *self) {
  static Original<decltype(eraseOperation)> next(ADBG_ERASE);
  if (isLeaked(self))
    return;
  noteEnd(self);
  next(self);
}

ADBG_INTERPOSE(void, deleteOperation, ADBG_DELETE_OPERATION, Operation *op) {
  static Original<decltype(deleteOperation)> next(ADBG_DELETE_OPERATION);
  noteEnd(op);
  next(op);
}

//===----------------------------------------------------------------------===//
// Lists of operations and blocks
//===----------------------------------------------------------------------===//

using Operations = llvm::ilist_traits<Operation>;
using Blocks = llvm::ilist_traits<Block>;

ADBG_INTERPOSE(void, addToBlock, ADBG_ADD_OPERATION, Operations *self,
               Operation *op) {
  static Original<decltype(addToBlock)> next(ADBG_ADD_OPERATION);
  next(self, op);
  Engine &engine = Engine::get();
  if (LLVM_UNLIKELY(!engine.followsIR())) {
    if (engine.numbersIR())
      Identities::all().place(op);
    return;
  }
  AgentHeap agentHeap;
  engine.observer.placed(op);
}

ADBG_INTERPOSE(void, transferOperations, ADBG_TRANSFER_OPERATIONS,
               Operations *self, Operations &other,
               Operations::op_iterator first, Operations::op_iterator last) {
  static Original<decltype(transferOperations)> next(ADBG_TRANSFER_OPERATIONS);
  next(self, other, first, last);
  Engine &engine = Engine::get();
  if (!engine.followsIR())
    return;
  AgentHeap agentHeap;
  bool isElsewhere = self->getContainingBlock()->getParent() !=
                     other.getContainingBlock()->getParent();
  for (Operation &op : llvm::make_range(first, last))
    engine.observer.moved(&op, isElsewhere);
}

/// Reports a move made by `move`.
static void noteMoved(Operation *op, function_ref<void()> move) {
  Block *block = op->getBlock();
  Region *region = block ? block->getParent() : nullptr;
  move();
  Engine &engine = Engine::get();
  if (!engine.followsIR())
    return;
  AgentHeap agentHeap;
  engine.observer.moved(op, op->getBlock()->getParent() != region);
}

ADBG_INTERPOSE(void, moveBefore, ADBG_MOVE_BEFORE, Operation *self,
               Operation *other) {
  static Original<decltype(moveBefore)> next(ADBG_MOVE_BEFORE);
  noteMoved(self, [&] { next(self, other); });
}

ADBG_INTERPOSE(void, moveAfter, ADBG_MOVE_AFTER, Operation *self,
               Operation *other) {
  static Original<decltype(moveAfter)> next(ADBG_MOVE_AFTER);
  noteMoved(self, [&] { next(self, other); });
}

ADBG_INTERPOSE(void, moveBeforeIn, ADBG_MOVE_BEFORE_IN, Operation *self,
               Block *block, Block::iterator place) {
  static Original<decltype(moveBeforeIn)> next(ADBG_MOVE_BEFORE_IN);
  noteMoved(self, [&] { next(self, block, place); });
}

ADBG_INTERPOSE(void, moveAfterIn, ADBG_MOVE_AFTER_IN, Operation *self,
               Block *block, Block::iterator place) {
  static Original<decltype(moveAfterIn)> next(ADBG_MOVE_AFTER_IN);
  noteMoved(self, [&] { next(self, block, place); });
}

static void noteBlock(Block *block, ChangeKind kind) {
  Engine &engine = Engine::get();
  if (!engine.follows() || !engine.hasFrames())
    return;
  AgentHeap agentHeap;
  engine.observer.blockChanged(block, kind);
}

/// A block of `from`, which may be null, was copied or moved to `block`.
static void noteBody(Block *block, Operation *from) {
  Engine &engine = Engine::get();
  if (!from || !engine.follows() || !engine.hasFrames())
    return;
  AgentHeap agentHeap;
  engine.observer.tookBody(block, from);
}

static void numberBlock(Block *block) {
  Engine &engine = Engine::get();
  if (!engine.followsIR() && !engine.numbersIR())
    return;
  AgentHeap agentHeap;
  BlockKeys::all().added(block);
}

ADBG_INTERPOSE(void, addBlock, ADBG_ADD_BLOCK, Blocks *self, Block *block) {
  static Original<decltype(addBlock)> next(ADBG_ADD_BLOCK);
  next(self, block);
  numberBlock(block);
  noteBlock(block, ChangeKind::Inserted);
}

ADBG_INTERPOSE(void, removeBlock, ADBG_REMOVE_BLOCK, Blocks *self,
               Block *block) {
  static Original<decltype(removeBlock)> next(ADBG_REMOVE_BLOCK);
  noteBlock(block, ChangeKind::Erased);
  Engine &engine = Engine::get();
  if (engine.followsIR() || engine.numbersIR()) {
    AgentHeap agentHeap;
    BlockKeys::all().removed(block);
  }
  next(self, block);
}

ADBG_INTERPOSE(void, transferBlocks, ADBG_TRANSFER_BLOCKS, Blocks *self,
               Blocks &other, Blocks::block_iterator first,
               Blocks::block_iterator last) {
  static Original<decltype(transferBlocks)> next(ADBG_TRANSFER_BLOCKS);
  Operation *from = first != last ? first->getParentOp() : nullptr;
  next(self, other, first, last);
  for (Block &block : llvm::make_range(first, last)) {
    noteBody(&block, from);
    noteBlock(&block, ChangeKind::Moved);
  }
}

ADBG_INTERPOSE(void, cloneInto, ADBG_CLONE_INTO, Region *self, Region *other,
               Region::iterator place, IRMapping &mapping) {
  static Original<decltype(cloneInto)> next(ADBG_CLONE_INTO);
  // The copies are what is new in front of the place: the mapping's layout need
  // not be known.
  Region::iterator before = std::prev(place);
  Operation *from = self->getParentOp();
  next(self, other, place, mapping);
  for (auto clone = std::next(before); clone != place; ++clone) {
    numberBlock(&*clone);
    noteBody(&*clone, from);
    noteBlock(&*clone, ChangeKind::Inserted);
  }
}

//===----------------------------------------------------------------------===//
// Notifications of rewriters
//===----------------------------------------------------------------------===//

// Replacing an operation replaces its uses, through the functions below or
// directly: report it once.
static thread_local bool isReplacing = false;

/// Reports a replacement that `replace` then makes.
static void noteReplaced(Operation *op, ValueRange by,
                         function_ref<void()> replace) {
  Engine &engine = Engine::get();
  bool outer = isReplacing;
  if (!outer && engine.hasFrames() && engine.follows()) {
    AgentHeap agentHeap;
    engine.replaced(op, by);
  }
  isReplacing = true;
  replace();
  isReplacing = outer;
}

ADBG_INTERPOSE(void, replaceWithValues, ADBG_REPLACE_VALUES, RewriterBase *self,
               Operation *op, ValueRange values) {
  static Original<decltype(replaceWithValues)> next(ADBG_REPLACE_VALUES);
  noteReplaced(op, values, [&] { next(self, op, values); });
}

ADBG_INTERPOSE(void, replaceWithOperation, ADBG_REPLACE_OP, RewriterBase *self,
               Operation *op, Operation *by) {
  static Original<decltype(replaceWithOperation)> next(ADBG_REPLACE_OP);
  noteReplaced(op, by->getResults(), [&] { next(self, op, by); });
}

ADBG_INTERPOSE(void, replaceUsesWithValues, ADBG_REPLACE_USES_VALUES,
               RewriterBase *self, Operation *op, ValueRange values) {
  static Original<decltype(replaceUsesWithValues)> next(
      ADBG_REPLACE_USES_VALUES);
  noteReplaced(op, values, [&] { next(self, op, values); });
}

ADBG_INTERPOSE(void, replaceUsesWithOperation, ADBG_REPLACE_USES_OP,
               RewriterBase *self, Operation *op, Operation *by) {
  static Original<decltype(replaceUsesWithOperation)> next(
      ADBG_REPLACE_USES_OP);
  noteReplaced(op, by->getResults(), [&] { next(self, op, by); });
}

ADBG_INTERPOSE(void, finalizeModification, ADBG_FINALIZE_MODIFICATION,
               RewriterBase *self, Operation *op) {
  static Original<decltype(finalizeModification)> next(
      ADBG_FINALIZE_MODIFICATION);
  Engine &engine = Engine::get();
  if (engine.hasFrames() && engine.follows()) {
    AgentHeap agentHeap;
    engine.observer.modified(op);
  }
  next(self, op);
}

//===----------------------------------------------------------------------===//
// Functions after LLVM 22: properties that know their type
//===----------------------------------------------------------------------===//

namespace {
/// The storage of properties, and the ID of their type. Only passed on.
struct PropertyRef {
  TypeID type;
  void *storage;
};
} // namespace

#define ADBG_CREATE_BY_REFERENCE(ATTRIBUTES)                                   \
  "_ZN4mlir9Operation6createENS_8LocationENS_13OperationNameENS_9TypeRangeE"   \
  "NS_10ValueRangeE" ATTRIBUTES "ENS_11PropertyRefENS_10BlockRangeE"
#define ADBG_CREATE_LIST_BY_REFERENCE                                          \
  ADBG_CREATE_BY_REFERENCE("ONS_13NamedAttrList") "j"
#define ADBG_CREATE_DICTIONARY_BY_REFERENCE                                    \
  ADBG_CREATE_BY_REFERENCE("NS_14DictionaryAttr") "j"
#define ADBG_CREATE_REGIONS_BY_REFERENCE                                       \
  ADBG_CREATE_BY_REFERENCE("ONS_13NamedAttrList") "NS_11RegionRangeE"

ADBG_INTERPOSE(Operation *, createFromListByReference,
               ADBG_CREATE_LIST_BY_REFERENCE, Location loc, OperationName name,
               TypeRange types, ValueRange operands, NamedAttrList &&attributes,
               PropertyRef properties, BlockRange successors,
               unsigned regions) {
  static Original<decltype(createFromListByReference)> next(
      ADBG_CREATE_LIST_BY_REFERENCE);
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromDictionaryByReference,
               ADBG_CREATE_DICTIONARY_BY_REFERENCE, Location loc,
               OperationName name, TypeRange types, ValueRange operands,
               DictionaryAttr attributes, PropertyRef properties,
               BlockRange successors, unsigned regions) {
  static Original<decltype(createFromDictionaryByReference)> next(
      ADBG_CREATE_DICTIONARY_BY_REFERENCE);
  return noteNew(next(loc, name, types, operands, attributes, properties,
                      successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromRegionsByReference,
               ADBG_CREATE_REGIONS_BY_REFERENCE, Location loc,
               OperationName name, TypeRange types, ValueRange operands,
               NamedAttrList &&attributes, PropertyRef properties,
               BlockRange successors, RegionRange regions) {
  static Original<decltype(createFromRegionsByReference)> next(
      ADBG_CREATE_REGIONS_BY_REFERENCE);
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

//===----------------------------------------------------------------------===//
// Functions after LLVM 22: copies with options by reference
//===----------------------------------------------------------------------===//

#define ADBG_CLONE_BY_REFERENCE "_ZN4mlir9Operation5cloneERKNS0_12CloneOptionsE"
#define ADBG_CLONE_MAPPED_BY_REFERENCE                                         \
  "_ZN4mlir9Operation5cloneERNS_9IRMappingERKNS0_12CloneOptionsE"

ADBG_INTERPOSE(Operation *, cloneByReference, ADBG_CLONE_BY_REFERENCE,
               Operation *self, const void *options) {
  static Original<decltype(cloneByReference)> next(ADBG_CLONE_BY_REFERENCE);
  return runClone(self, [&] { return next(self, options); });
}

ADBG_INTERPOSE(Operation *, cloneMappedByReference,
               ADBG_CLONE_MAPPED_BY_REFERENCE, Operation *self, void *mapping,
               const void *options) {
  static Original<decltype(cloneMappedByReference)> next(
      ADBG_CLONE_MAPPED_BY_REFERENCE);
  return runClone(self, [&] { return next(self, mapping, options); });
}

} // extern "C++"
