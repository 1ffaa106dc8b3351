//===- InterposeIR.cpp - Functions that change IR -------------------------===//
//
// Lists of operations and blocks notify their traits of insertions and
// removals, so every change of that kind is observed, whatever its cause.
// MLIR's own Operation.cpp may bypass the exported traits, so its entry points
// are interposed too, and handling one change twice must be harmless. Changes
// in place are reported by rewriters only.
//
//===----------------------------------------------------------------------===//

#include "interpose/InterposeIR.h"
#include "engine/Engine.h"
#include "print/ValueKeys.h"
#include "support/AgentHeap.h"

#include "mlir/IR/PatternMatch.h"

using namespace adbg;

#define ADBG_NEXT(SYMBOL, ...) static Original<__VA_ARGS__> next(SYMBOL)

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

Operation *adbg::noteNew(Operation *op) {
  return cloning ? op : noteCreated(op);
}

ADBG_INTERPOSE(Operation *, createFromList, ADBG_CREATE_LIST, Location loc,
               OperationName name, TypeRange types, ValueRange operands,
               NamedAttrList &&attributes, OpaqueProperties properties,
               BlockRange successors, unsigned regions) {
  ADBG_NEXT(ADBG_CREATE_LIST,
            Operation * (Location, OperationName, TypeRange, ValueRange,
                         NamedAttrList &&, OpaqueProperties, BlockRange,
                         unsigned));
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromDictionary, ADBG_CREATE_DICTIONARY,
               Location loc, OperationName name, TypeRange types,
               ValueRange operands, DictionaryAttr attributes,
               OpaqueProperties properties, BlockRange successors,
               unsigned regions) {
  ADBG_NEXT(ADBG_CREATE_DICTIONARY,
            Operation * (Location, OperationName, TypeRange, ValueRange,
                         DictionaryAttr, OpaqueProperties, BlockRange,
                         unsigned));
  return noteNew(next(loc, name, types, operands, attributes, properties,
                      successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromState, ADBG_CREATE_STATE,
               const OperationState &state) {
  ADBG_NEXT(ADBG_CREATE_STATE, Operation * (const OperationState &));
  return noteNew(next(state));
}

ADBG_INTERPOSE(Operation *, createFromRegions, ADBG_CREATE_REGIONS,
               Location loc, OperationName name, TypeRange types,
               ValueRange operands, NamedAttrList &&attributes,
               OpaqueProperties properties, BlockRange successors,
               RegionRange regions) {
  ADBG_NEXT(ADBG_CREATE_REGIONS,
            Operation * (Location, OperationName, TypeRange, ValueRange,
                         NamedAttrList &&, OpaqueProperties, BlockRange,
                         RegionRange));
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

// One of these functions may call another, through the PLT or not: only the
// innermost one that is observed reports the copy.
Operation *adbg::noteCloned(Operation *from, Operation *to) {
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

ADBG_INTERPOSE(Operation *, cloneOperation, ADBG_CLONE, Operation *self,
               Operation::CloneOptions options) {
  ADBG_NEXT(ADBG_CLONE, Operation * (Operation *, Operation::CloneOptions));
  return runClone(self, [&] { return next(self, options); });
}

ADBG_INTERPOSE(Operation *, cloneMapped, ADBG_CLONE_MAPPED, Operation *self,
               IRMapping &mapping, Operation::CloneOptions options) {
  ADBG_NEXT(ADBG_CLONE_MAPPED,
            Operation * (Operation *, IRMapping &, Operation::CloneOptions));
  return runClone(self, [&] { return next(self, mapping, options); });
}

ADBG_INTERPOSE(Operation *, cloneWithoutRegions, ADBG_CLONE_BARE,
               Operation *self) {
  ADBG_NEXT(ADBG_CLONE_BARE, Operation * (Operation *));
  return runClone(self, [&] { return next(self); });
}

ADBG_INTERPOSE(Operation *, cloneMappedWithoutRegions, ADBG_CLONE_BARE_MAPPED,
               Operation *self, IRMapping &mapping) {
  ADBG_NEXT(ADBG_CLONE_BARE_MAPPED, Operation * (Operation *, IRMapping &));
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
  ADBG_NEXT(ADBG_DESTROY, void(Operation *));
  if (isLeaked(self))
    return;
  noteEnd(self);
  next(self);
}

ADBG_INTERPOSE(void, eraseOperation, ADBG_ERASE, Operation *self) {
  ADBG_NEXT(ADBG_ERASE, void(Operation *));
  if (isLeaked(self))
    return;
  noteEnd(self);
  next(self);
}

ADBG_INTERPOSE(void, deleteOperation, ADBG_DELETE_OPERATION, Operation *op) {
  ADBG_NEXT(ADBG_DELETE_OPERATION, void(Operation *));
  noteEnd(op);
  next(op);
}

//===----------------------------------------------------------------------===//
// Lists of operations and blocks
//===----------------------------------------------------------------------===//

using Operations = llvm::ilist_traits<Operation>;
using Blocks = llvm::ilist_traits<Block>;

ADBG_INTERPOSE(void, addOperation, ADBG_ADD_OPERATION, Operations *self,
               Operation *op) {
  ADBG_NEXT(ADBG_ADD_OPERATION, void(Operations *, Operation *));
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
  ADBG_NEXT(ADBG_TRANSFER_OPERATIONS,
            void(Operations *, Operations &, Operations::op_iterator,
                 Operations::op_iterator));
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
  ADBG_NEXT(ADBG_MOVE_BEFORE, void(Operation *, Operation *));
  noteMoved(self, [&] { next(self, other); });
}

ADBG_INTERPOSE(void, moveAfter, ADBG_MOVE_AFTER, Operation *self,
               Operation *other) {
  ADBG_NEXT(ADBG_MOVE_AFTER, void(Operation *, Operation *));
  noteMoved(self, [&] { next(self, other); });
}

ADBG_INTERPOSE(void, moveBeforeIn, ADBG_MOVE_BEFORE_IN, Operation *self,
               Block *block, Block::iterator place) {
  ADBG_NEXT(ADBG_MOVE_BEFORE_IN, void(Operation *, Block *, Block::iterator));
  noteMoved(self, [&] { next(self, block, place); });
}

ADBG_INTERPOSE(void, moveAfterIn, ADBG_MOVE_AFTER_IN, Operation *self,
               Block *block, Block::iterator place) {
  ADBG_NEXT(ADBG_MOVE_AFTER_IN, void(Operation *, Block *, Block::iterator));
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
  ADBG_NEXT(ADBG_ADD_BLOCK, void(Blocks *, Block *));
  next(self, block);
  numberBlock(block);
  noteBlock(block, ChangeKind::Inserted);
}

ADBG_INTERPOSE(void, removeBlock, ADBG_REMOVE_BLOCK, Blocks *self,
               Block *block) {
  ADBG_NEXT(ADBG_REMOVE_BLOCK, void(Blocks *, Block *));
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
  ADBG_NEXT(
      ADBG_TRANSFER_BLOCKS,
      void(Blocks *, Blocks &, Blocks::block_iterator, Blocks::block_iterator));
  Operation *from = first != last ? first->getParentOp() : nullptr;
  next(self, other, first, last);
  for (Block &block : llvm::make_range(first, last)) {
    noteBody(&block, from);
    noteBlock(&block, ChangeKind::Moved);
  }
}

ADBG_INTERPOSE(void, cloneInto, ADBG_CLONE_INTO, Region *self, Region *other,
               Region::iterator place, IRMapping &mapping) {
  ADBG_NEXT(ADBG_CLONE_INTO,
            void(Region *, Region *, Region::iterator, IRMapping &));
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
  ADBG_NEXT(ADBG_REPLACE_VALUES, void(RewriterBase *, Operation *, ValueRange));
  noteReplaced(op, values, [&] { next(self, op, values); });
}

ADBG_INTERPOSE(void, replaceWithOperation, ADBG_REPLACE_OP, RewriterBase *self,
               Operation *op, Operation *by) {
  ADBG_NEXT(ADBG_REPLACE_OP, void(RewriterBase *, Operation *, Operation *));
  noteReplaced(op, by->getResults(), [&] { next(self, op, by); });
}

ADBG_INTERPOSE(void, replaceUsesWithValues, ADBG_REPLACE_USES_VALUES,
               RewriterBase *self, Operation *op, ValueRange values) {
  ADBG_NEXT(ADBG_REPLACE_USES_VALUES,
            void(RewriterBase *, Operation *, ValueRange));
  noteReplaced(op, values, [&] { next(self, op, values); });
}

ADBG_INTERPOSE(void, replaceUsesWithOperation, ADBG_REPLACE_USES_OP,
               RewriterBase *self, Operation *op, Operation *by) {
  ADBG_NEXT(ADBG_REPLACE_USES_OP,
            void(RewriterBase *, Operation *, Operation *));
  noteReplaced(op, by->getResults(), [&] { next(self, op, by); });
}

ADBG_INTERPOSE(void, finalizeModification, ADBG_FINALIZE_MODIFICATION,
               RewriterBase *self, Operation *op) {
  ADBG_NEXT(ADBG_FINALIZE_MODIFICATION, void(RewriterBase *, Operation *));
  Engine &engine = Engine::get();
  if (engine.hasFrames() && engine.follows()) {
    AgentHeap agentHeap;
    engine.observer.modified(op);
  }
  next(self, op);
}

} // extern "C++"
