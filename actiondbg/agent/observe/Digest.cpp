#include "observe/Digest.h"
#include "observe/Identity.h"

namespace adbg {

static constexpr uint64_t factor = 0x9E3779B97F4A7C15ull;

static uint64_t mix(uint64_t state, uint64_t value) {
  state = (state ^ value) * factor;
  return state ^ (state >> 29);
}

static uint64_t mix(uint64_t state, const void *pointer) {
  return mix(state, reinterpret_cast<uintptr_t>(pointer));
}

static uint64_t digestBlocks(Operation *op) {
  uint64_t state = 0;
  for (Region &region : op->getRegions()) {
    state = mix(state, 1);
    for (Block &block : region) {
      state = mix(state, &block);
      for (BlockArgument argument : block.getArguments())
        state = mix(state, argument.getType().getAsOpaquePointer());
    }
  }
  return state;
}

Shape Shape::of(Operation *op) {
  Shape shape;
  shape.attributes = mix(op->hashProperties(),
                         op->getRawDictionaryAttrs().getAsOpaquePointer());
  for (OpOperand &operand : op->getOpOperands())
    shape.operands = mix(shape.operands, operand.get().getAsOpaquePointer());
  for (OpResult result : op->getResults())
    shape.results = mix(shape.results, result.getType().getAsOpaquePointer());
  for (BlockOperand &successor : op->getBlockOperands())
    shape.successors = mix(shape.successors, successor.get());
  shape.location = mix(0, op->getLoc().getAsOpaquePointer());
  shape.blocks = op->getNumRegions() ? digestBlocks(op) : 0;
  shape.block = mix(0, op->getBlock());
  return shape;
}

std::string Shape::differences(const Shape &other) const {
  std::string text;
  auto compare = [&](uint64_t mine, uint64_t theirs, const char *what) {
    if (mine != theirs)
      text += (text.empty() ? "" : ", ") + std::string(what);
  };
  compare(attributes, other.attributes, "attributes");
  compare(operands, other.operands, "operands");
  compare(results, other.results, "result types");
  compare(successors, other.successors, "successors");
  compare(location, other.location, "location");
  compare(blocks, other.blocks, "blocks");
  compare(block, other.block, "place");
  return text;
}

namespace {
/// A digest that takes two instructions a word, because it is computed over all
/// IR.
struct Sum {
  uint64_t sum = factor;

  void add(uint64_t value) { sum = (sum ^ value) * factor; }
  void add(const void *pointer) { add(reinterpret_cast<uintptr_t>(pointer)); }
};
} // namespace

/// The bytes of the properties: hashing their meaning would take longer than
/// everything else. Memory that they own elsewhere is not covered.
static void addProperties(Sum &sum, Operation *op) {
  const auto *words = reinterpret_cast<const uint64_t *>(
      op->getPropertiesStorage().as<const void *>());
  for (int size = op->getPropertiesStorageSize(); size > 0; size -= 8)
    sum.add(*words++);
}

/// The types of the results, which precede the operation in memory.
static void addResults(Sum &sum, Operation *op) {
  for (unsigned i = 0, count = op->getNumResults(); i < count; ++i)
    sum.add(detail::resultOf(op, i)->typeAndKind.getOpaqueValue());
}

/// One operation, without its parent block: a move is reported by the list that
/// receives the operation.
static inline uint64_t digestOne(Operation *op) {
  Sum sum;
  sum.add(op->getName().getAsOpaquePointer());
  sum.add(op->attrs.getAsOpaquePointer());
  addResults(sum, op);
  if (op->getPropertiesStorageSize())
    addProperties(sum, op);
  for (OpOperand &operand : op->getOpOperands())
    sum.add(operand.get().getAsOpaquePointer());
  // Keeps words of different kinds apart.
  sum.add(op->getNumOperands());
  if (LLVM_UNLIKELY(op->getNumSuccessors()))
    for (BlockOperand &successor : op->getBlockOperands())
      sum.add(successor.get());
  return sum.sum;
}

static uint64_t digestWithBlocks(Operation *op) {
  uint64_t one = digestOne(op);
  return op->getNumRegions() ? mix(one, digestBlocks(op)) : one;
}

/// Prefetches cache lines around an address, which need not be mapped.
static void prefetch(const void *soon, ptrdiff_t first, ptrdiff_t last) {
  for (ptrdiff_t line = first; line <= last; ++line)
    __builtin_prefetch(static_cast<const char *>(soon) + 64 * line);
}

namespace {
/// A position in a region that is being digested.
class Cursor {
public:
  Cursor() = default;
  /// Starts in a region that has a block.
  explicit Cursor(Region *region)
      : region(region), block(region->begin()), state(begin(region)) {
    enter();
  }
  /// The initial digest of a region.
  static uint64_t begin(Region *region) { return mix(0, region); }

  /// Digests the next operation and returns it; null at the end of a block,
  /// which may be the last.
  Operation *look() {
    if (LLVM_UNLIKELY(next == end)) {
      if (++block != region->end())
        enter();
      return nullptr;
    }
    // Inlined: the iterator would call into libMLIR.
    auto *op = static_cast<Operation *>(next);
    next = next->getNext();
    prefetch(next, -1, 2); // its results precede it
    state = mix(state, op) ^ digestOne(op);
    return op;
  }
  bool isDone() const { return block == region->end(); }
  uint64_t digest() const { return state; }

private:
  void enter() {
    prefetch(std::next(block).getNodePtr(), 0, 1);
    state = mix(state, &*block);
    for (BlockArgument argument : block->getArguments())
      state = mix(state, argument.getType().getAsOpaquePointer());
    next = block->begin().getNodePtr();
    end = block->end().getNodePtr();
    prefetch(next, -1, 2);
  }

  Region *region = nullptr;
  Region::iterator block;
  ListNode *next = nullptr, *end = nullptr;
  uint64_t state = 0;
};
} // namespace

// Several regions are digested in turn: following a single list waits for the
// memory of one operation after the other, which takes longer than everything
// else.
uint64_t digest(Operation *root) {
  uint64_t sum = mix(digestOne(root), root);
  std::vector<Region *> left;
  auto add = [&](Operation *op) {
    for (Region &region : op->getRegions()) {
      if (region.empty())
        sum += Cursor::begin(&region);
      else
        left.push_back(&region);
    }
  };
  add(root);
  Cursor cursors[8];
  unsigned used = 0;
  while (used || !left.empty()) {
    for (; used < std::size(cursors) && !left.empty(); left.pop_back())
      cursors[used++] = Cursor(left.back());
    for (unsigned i = 0; i < used; ++i) {
      Operation *op = cursors[i].look();
      if (LLVM_LIKELY(op)) {
        if (LLVM_UNLIKELY(op->getNumRegions()))
          add(op);
      } else if (cursors[i].isDone()) {
        sum += cursors[i].digest();
        cursors[i] = cursors[--used];
      }
    }
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Snapshots
//===----------------------------------------------------------------------===//

namespace {

/// The operations nearest to one, in breadth-first order.
class Neighbours {
public:
  /// `root` contains all of them.
  Neighbours(Operation *op, Operation *root) : root(root) {
    found.reserve(Snapshot::mostNear);
    for (Operation *around = op; around; around = around->getParentOp()) {
      visit(around);
      if (around == root)
        break;
    }
    for (size_t i = 0; i < found.size() && !isFull(); ++i)
      visitNext(found[i]);
  }

  std::vector<Operation *> found;

private:
  /// More uses of a value, or more empty blocks, are passed over.
  static constexpr int mostUses = 16, mostBlocks = 16;

  bool isFull() const { return found.size() >= Snapshot::mostNear; }
  void visit(Operation *op) {
    if (op && !isFull() && isNew(op))
      found.push_back(op);
  }
  /// Whether an operation was not seen before. Nothing is allocated: this runs
  /// before each application of a pattern.
  bool isNew(Operation *op) {
    size_t at = (uintptr_t(op) >> 4) * 0x9E3779B97F4A7C15 >> 32;
    for (;; ++at) {
      Operation *&slot = seen[at % seen.size()];
      if (slot == op)
        return false;
      if (!slot) {
        slot = op;
        return true;
      }
    }
  }

  void visitNext(Operation *op) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        visitFirst(region.begin(), region.end());
    for (Value operand : op->getOperands())
      if (operand)
        visit(operand.getDefiningOp());
    for (Value result : op->getResults()) {
      int left = mostUses;
      for (auto use = result.use_begin(); use != result.use_end() && left--;
           ++use)
        visit(use->getOwner());
    }
    Block *block = op->getBlock();
    if (op == root || !block)
      return;
    Region *region = block->getParent();
    if (Operation *next = op->getNextNode())
      visit(next);
    else if (region)
      visitFirst(std::next(block->getIterator()), region->end());
    if (Operation *previous = op->getPrevNode())
      visit(previous);
    else if (region)
      visitLast(block->getReverseIterator(), region->rend());
  }
  void visitFirst(Region::iterator block, Region::iterator end) {
    for (int left = mostBlocks; block != end && left--; ++block)
      if (!block->empty())
        return visit(&block->front());
  }
  void visitLast(Region::reverse_iterator block,
                 const Region::reverse_iterator &end) {
    ++block;
    for (int left = mostBlocks; block != end && left--; ++block)
      if (!block->empty())
        return visit(&block->back());
  }

  Operation *root;
  std::array<Operation *, 2 * Snapshot::mostNear> seen = {};
};
} // namespace

void Snapshot::add(Operation *op) {
  if (uint32_t id = ids.of(op))
    entries.push_back({op, id, digestOf(op)});
}

uint64_t Snapshot::digestOf(Operation *op) const {
  return withBlocks ? digestWithBlocks(op) : digestOne(op);
}

Snapshot Snapshot::of(Operation *root, bool withBlocks) {
  Snapshot snapshot;
  snapshot.withBlocks = withBlocks;
  root->walk([&](Operation *op) { snapshot.add(op); });
  return snapshot;
}

Snapshot Snapshot::outside(Operation *root) {
  Snapshot snapshot;
  snapshot.withBlocks = false;
  while ((root = root->getParentOp()))
    snapshot.add(root);
  return snapshot;
}

Snapshot Snapshot::near(Operation *op, Operation *root) {
  Snapshot snapshot;
  Neighbours nearest(op, root);
  snapshot.entries.reserve(nearest.found.size());
  for (Operation *one : nearest.found)
    snapshot.add(one);
  // As the whole is walked.
  std::ranges::sort(
      snapshot.entries,
      [](const Entry &left, const Entry &right) { return left.id < right.id; });
  return snapshot;
}

std::vector<Operation *> Snapshot::modified() const {
  std::vector<Operation *> found;
  for (const Entry &entry : entries)
    // Another operation may have reused its address.
    if (ids.of(entry.op) == entry.id && digestOf(entry.op) != entry.digest)
      found.push_back(entry.op);
  return found;
}

} // namespace adbg
