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

using namespace adbg;

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
      ids.created(op);
    return op;
  }
  AgentHeap agentHeap;
  engine.observer.created(op);
  return op;
}

/// The operation that is being copied.
static thread_local Operation *cloning = nullptr;

/// Creates an operation, and reports it unless a copy is being made: a copy is
/// reported as a whole, after the operations in it.
template <typename Next, typename... Operands>
static Operation *create(Next next, Operands... operands) {
  Operation *op = next(std::forward<Operands>(operands)...);
  return cloning ? op : noteCreated(op);
}

/// The storage of properties, and the ID of their type; since LLVM 23. Only
/// passed on.
struct PropertyRef {
  TypeID type;
  void *storage;
};

#define ADBG_CREATION(NAME, SYMBOL, ATTRIBUTES, PROPERTIES, REGIONS)           \
  ADBG_INTERPOSE_BY(create, Operation *, NAME, SYMBOL, Location,               \
                    OperationName, TypeRange, ValueRange, ATTRIBUTES,          \
                    PROPERTIES, BlockRange, REGIONS)

ADBG_CREATION(createFromList, ADBG_CREATE_LIST, NamedAttrList &&,
              OpaqueProperties, unsigned)
ADBG_CREATION(createFromDictionary, ADBG_CREATE_DICTIONARY, DictionaryAttr,
              OpaqueProperties, unsigned)
ADBG_CREATION(createFromRegions, ADBG_CREATE_REGIONS, NamedAttrList &&,
              OpaqueProperties, RegionRange)
ADBG_CREATION(createFromListByReference, ADBG_CREATE_LIST_BY_REFERENCE,
              NamedAttrList &&, PropertyRef, unsigned)
ADBG_CREATION(createFromDictionaryByReference,
              ADBG_CREATE_DICTIONARY_BY_REFERENCE, DictionaryAttr, PropertyRef,
              unsigned)
ADBG_CREATION(createFromRegionsByReference, ADBG_CREATE_REGIONS_BY_REFERENCE,
              NamedAttrList &&, PropertyRef, RegionRange)
ADBG_INTERPOSE_BY(create, Operation *, createFromState, ADBG_CREATE_STATE,
                  const OperationState &)

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

/// Copies an operation. Where functions that copy call each other, the
/// outermost function reports the copy.
template <typename Next, typename... Operands>
static Operation *clone(Next next, Operation *from, Operands... operands) {
  bool isInner = cloning == from;
  Operation *outer = cloning;
  cloning = from;
  Operation *to = next(from, std::forward<Operands>(operands)...);
  cloning = outer;
  return isInner ? to : noteCloned(from, to);
}

ADBG_INTERPOSE_BY(clone, Operation *, cloneOperation, ADBG_CLONE, Operation *,
                  Operation::CloneOptions)
ADBG_INTERPOSE_BY(clone, Operation *, cloneMapped, ADBG_CLONE_MAPPED,
                  Operation *, IRMapping &, Operation::CloneOptions)
ADBG_INTERPOSE_BY(clone, Operation *, cloneBare, ADBG_CLONE_BARE, Operation *)
ADBG_INTERPOSE_BY(clone, Operation *, cloneBareMapped, ADBG_CLONE_BARE_MAPPED,
                  Operation *, IRMapping &)
ADBG_INTERPOSE_BY(clone, Operation *, cloneByReference, ADBG_CLONE_BY_REFERENCE,
                  Operation *, const Operation::CloneOptions &)
ADBG_INTERPOSE_BY(clone, Operation *, cloneMappedByReference,
                  ADBG_CLONE_MAPPED_BY_REFERENCE, Operation *, IRMapping &,
                  const Operation::CloneOptions &)

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
    ids.destroyed(op);
}

static void noteEnd(Operation *op) {
  Engine &engine = Engine::get();
  if (LLVM_UNLIKELY(!engine.followsIR()))
    return noteEndElsewhere(engine, op);
  AgentHeap agentHeap;
  if (engine.hasFrames()) {
    if (Operation *by = engine.observer.cseReplacement(op))
      engine.replaced(op, by, /*isGuess=*/true);
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

/// LeakSanitizer asks at the end: what the agent leaks is no fault of the tool.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  return Engine::get().forks.role == Role::Trial || Recorder::keepsOutput();
}

template <typename Next> static void end(Next next, Operation *op) {
  if (isLeaked(op))
    return;
  noteEnd(op);
  next(op);
}

ADBG_INTERPOSE_BY(end, void, destroyOperation, ADBG_DESTROY, Operation *)
ADBG_INTERPOSE_BY(end, void, eraseOperation, ADBG_ERASE, Operation *)

ADBG_INTERPOSE(void, deleteOperation, ADBG_DELETE_OPERATION, Operation *op) {
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
  next(self, op);
  Engine &engine = Engine::get();
  if (LLVM_UNLIKELY(!engine.followsIR())) {
    if (engine.numbersIR())
      ids.place(op);
    return;
  }
  AgentHeap agentHeap;
  engine.observer.placed(op);
}

ADBG_INTERPOSE(void, transferOperations, ADBG_TRANSFER_OPERATIONS,
               Operations *self, Operations &other,
               Operations::op_iterator first, Operations::op_iterator last) {
  // Of the first operation, because a list is at another place of a block in
  // other versions of MLIR.
  Block *block = first != last ? first->getBlock() : nullptr;
  Region *from = block ? block->getParent() : nullptr;
  next(self, other, first, last);
  Engine &engine = Engine::get();
  if (!engine.followsIR())
    return;
  AgentHeap agentHeap;
  for (Operation &op : std::ranges::subrange(first, last))
    engine.observer.moved(&op, from);
}

template <typename Next, typename... Place>
static void moveTo(Next next, Operation *op, Place... place) {
  Block *block = op->getBlock();
  Region *region = block ? block->getParent() : nullptr;
  next(op, place...);
  Engine &engine = Engine::get();
  if (!engine.followsIR())
    return;
  AgentHeap agentHeap;
  engine.observer.moved(op, region);
}

ADBG_INTERPOSE_BY(moveTo, void, moveBefore, ADBG_MOVE_BEFORE, Operation *,
                  Operation *)
ADBG_INTERPOSE_BY(moveTo, void, moveAfter, ADBG_MOVE_AFTER, Operation *,
                  Operation *)
ADBG_INTERPOSE_BY(moveTo, void, moveBeforeIn, ADBG_MOVE_BEFORE_IN, Operation *,
                  Block *, Block::iterator)
ADBG_INTERPOSE_BY(moveTo, void, moveAfterIn, ADBG_MOVE_AFTER_IN, Operation *,
                  Block *, Block::iterator)

/// Calls `tell` inside an action of this thread that is followed.
template <typename Tell> static void tellInside(Tell tell) {
  Engine &engine = Engine::get();
  if (!engine.follows() || !engine.hasFrames())
    return;
  AgentHeap agentHeap;
  tell(engine);
}

static void noteBlock(Block *block, ChangeKind kind) {
  tellInside(
      [&](Engine &engine) { engine.observer.blockChanged(block, kind); });
}

/// A block of `from`, which may be null, was copied or moved to `block`.
static void noteBody(Block *block, Operation *from) {
  if (from)
    tellInside([&](Engine &engine) { engine.observer.tookBody(block, from); });
}

/// Blocks of `from`, which may be null, were moved, inside of an action or not.
static void noteFunction(Blocks::block_iterator first,
                         Blocks::block_iterator last, Operation *from) {
  Engine &engine = Engine::get();
  if (!engine.followsIR())
    return;
  AgentHeap agentHeap;
  for (Block &block : std::ranges::subrange(first, last))
    engine.observer.blockMoved(&block, from);
}

static void numberBlock(Block *block, void (BlockKeys::*note)(Block *)) {
  Engine &engine = Engine::get();
  if (!engine.followsIR() && !engine.numbersIR())
    return;
  AgentHeap agentHeap;
  (BlockKeys::all().*note)(block);
}

ADBG_INTERPOSE(void, addBlock, ADBG_ADD_BLOCK, Blocks *self, Block *block) {
  next(self, block);
  numberBlock(block, &BlockKeys::added);
  noteBlock(block, ChangeKind::Inserted);
}

ADBG_INTERPOSE(void, removeBlock, ADBG_REMOVE_BLOCK, Blocks *self,
               Block *block) {
  noteBlock(block, ChangeKind::Erased);
  numberBlock(block, &BlockKeys::removed);
  next(self, block);
}

ADBG_INTERPOSE(void, transferBlocks, ADBG_TRANSFER_BLOCKS, Blocks *self,
               Blocks &other, Blocks::block_iterator first,
               Blocks::block_iterator last) {
  Operation *from = first != last ? first->getParentOp() : nullptr;
  next(self, other, first, last);
  noteFunction(first, last, from);
  for (Block &block : std::ranges::subrange(first, last)) {
    noteBody(&block, from);
    noteBlock(&block, ChangeKind::Moved);
  }
}

ADBG_INTERPOSE(void, cloneInto, ADBG_CLONE_INTO, Region *self, Region *other,
               Region::iterator place, IRMapping &mapping) {
  // The copies are what is new in front of the place: the mapping's layout need
  // not be known.
  Region::iterator before = std::prev(place);
  Operation *from = self->getParentOp();
  next(self, other, place, mapping);
  for (auto clone = std::next(before); clone != place; ++clone) {
    numberBlock(&*clone, &BlockKeys::added);
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

/// Replaces an operation by `run`, and reports that unless a function with the
/// same flag does so.
template <typename Run>
static void replaceOnce(bool &isReplacing, Operation *op, ValueRange by,
                        Run run) {
  bool outer = std::exchange(isReplacing, true);
  if (!outer)
    tellInside([&](Engine &engine) { engine.replaced(op, by); });
  run();
  isReplacing = outer;
}

template <typename Next, typename By>
static void replace(Next next, RewriterBase *self, Operation *op, By by) {
  replaceOnce(isReplacing, op, by, [&] { next(self, op, by); });
}

ADBG_INTERPOSE_BY(replace, void, replaceWithValues, ADBG_REPLACE_VALUES,
                  RewriterBase *, Operation *, ValueRange)
ADBG_INTERPOSE_BY(replace, void, replaceWithOperation, ADBG_REPLACE_OP,
                  RewriterBase *, Operation *, Operation *)
ADBG_INTERPOSE_BY(replace, void, replaceUsesWithValues,
                  ADBG_REPLACE_USES_VALUES, RewriterBase *, Operation *,
                  ValueRange)
ADBG_INTERPOSE_BY(replace, void, replaceUsesWithOperation, ADBG_REPLACE_USES_OP,
                  RewriterBase *, Operation *, Operation *)

ADBG_INTERPOSE(void, finalizeModification, ADBG_FINALIZE_MODIFICATION,
               RewriterBase *self, Operation *op) {
  tellInside([&](Engine &engine) { engine.observer.modified(op); });
  next(self, op);
}

//===----------------------------------------------------------------------===//
// Conversions: replacements happen at the end but belong to the pattern
//===----------------------------------------------------------------------===//

// One of these functions calls another inside of MLIR.
static thread_local bool isReplacingConverted = false;

template <typename Next, typename By>
static void replaceConverted(Next next, ConversionPatternRewriter *self,
                             Operation *op, By by) {
  replaceOnce(isReplacingConverted, op, by, [&] { next(self, op, by); });
}

ADBG_INTERPOSE_BY(replaceConverted, void, convertWithValues,
                  ADBG_CONVERSION_REPLACE_VALUES, ConversionPatternRewriter *,
                  Operation *, ValueRange)
ADBG_INTERPOSE_BY(replaceConverted, void, convertWithOperation,
                  ADBG_CONVERSION_REPLACE_OP, ConversionPatternRewriter *,
                  Operation *, Operation *)

using ManyValues = SmallVector<SmallVector<Value>>;

ADBG_INTERPOSE(void, convertWithMany, ADBG_CONVERSION_REPLACE_MANY,
               ConversionPatternRewriter *self, Operation *op,
               ManyValues &&values) {
  SmallVector<Value> all;
  tellInside([&](Engine &) {
    for (ArrayRef<Value> group : values)
      all.append(group.begin(), group.end());
  });
  replaceOnce(isReplacingConverted, op, ArrayRef<Value>(all),
              [&] { next(self, op, std::move(values)); });
}
