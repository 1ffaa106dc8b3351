#include "observe/Observer.h"
#include "record/Recorder.h"
#include "record/Stages.h"
#include "record/UpstreamLog.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

// The processor's cycle counter, where user space can read it.
int64_t Observer::now() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return nanoseconds();
#endif
}

int64_t Observer::nanoseconds() {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

double Observer::secondsOf(int64_t ticks) const {
  int64_t passed = now() - started;
  return passed <= 0 ? 0
                     : 1e-9 * double(nanoseconds() - startedNanoseconds) *
                           double(ticks) / double(passed);
}

int64_t Observer::ranFor() const {
  return nanoseconds() - startedNanoseconds -
         int64_t(secondsOf(stopTime) * 1e9);
}

//===----------------------------------------------------------------------===//
// What happens to IR
//===----------------------------------------------------------------------===//

/// Counts a change that nobody can ask for, unless the tool is interrupted:
/// then only its existence is known.
void Observer::countOnly(ChangeKind kind) {
  if (LLVM_UNLIKELY(!Frame::seesChanges))
    return;
  ++innermost->tally.counts[static_cast<unsigned>(kind)];
  innermost->tally.isTouched = true;
  ++innermost->tally.net;
  ++innermost->tally.ownNet;
  log.countOnly();
}

const Detail Observer::plain;

/// `isNew`: the operation was created by this action. What is found in the end
/// was there before, whichever thread gave it its id.
void Observer::add(ChangeKind kind, Operation *op, uint32_t id, bool isNew,
                   const Detail &detail) {
  if (LLVM_UNLIKELY(!Frame::seesChanges) && !detail.isGuess)
    return; // some are not seen: a list of the others would be wrong
  if (LLVM_UNLIKELY(checks.isChecking()) && !detail.isBlock)
    checks.changed(*innermost, kind, op, id, isNew);
  Tally &tally = innermost->tally;
  ++tally.counts[static_cast<unsigned>(kind)];
  tally.isTouched = true;
  int difference = 1;
  if (isNew && kind != ChangeKind::Inserted)
    difference = kind == ChangeKind::Erased ? -1 : 0;
  bool isFoldsDoing = isFollowUp();
  tally.net += difference;
  if (!isFoldsDoing)
    tally.ownNet += difference;
  uint64_t ordinal = isFoldsDoing ? fold.ordinal : innermost->ordinal;
  last = {kind, detail.isBlock, id, ordinal};
  if (recorder)
    recorder->change({kind, op, id, ordinal, detail,
                      kind == ChangeKind::Erased && !detail.isBlock,
                      wasDescribed});
  if (!isDetailed)
    return log.countOnly();
  log.add(Change{kind,
                 detail.isBlock,
                 isFoldsDoing || detail.isGuess,
                 id,
                 ordinal,
                 op->getName(),
                 op->getLoc(),
                 {detail.by.begin(), detail.by.end()}});
}

/// Whether the latest change is the same one.
bool Observer::isLast(ChangeKind kind, uint32_t id) const {
  return last.id == id && last.kind == kind && !last.isBlock &&
         last.ordinal == ordinalNow();
}

/// Whether a step only examines an operation: there may be one for each pair of
/// a matcher and an operation.
static bool isMatcher(const Frame &frame) {
  return nameFrom(frame.nameKey).starts_with("transform.match.");
}

static bool isRunByDigest(const Frame &frame) {
  if (frame.kind == Kind::Step)
    return !isMatcher(frame);
  return frame.isRealPass();
}

/// The operation that contains everything the action may change.
static Operation *scopeOf(const Frame &frame) {
  if (frame.kind == Kind::Step)
    return frame.payload();
  return scopeOf(frame.op());
}

/// The operation whose digest shows whether the action changed something.
static Operation *digestedBy(const Frame &frame) {
  return frame.kind == Kind::Step ? frame.payload() : frame.op();
}

bool Observer::followsLineage() const {
  return innermost && recorder && Recorder::followsLineage();
}

/// Whether what an action inserts is for no operation that is known.
static bool isWithoutRoot(const Frame &frame) {
  return frame.isRealPass() || frame.kind == Kind::Step;
}

void Observer::recordOrigin(Operation *op, uint32_t id) {
  recorder->uses(op, id, ordinalNow());
  if (!Frame::seesChanges)
    return;
  provenance.placed(op, ordinalNow(), innermost->tally.firstId, *recorder);
  if (!isWithoutRoot(*innermost))
    return provenance.forgetPlace();
  Rare &rare = innermost->needRare();
  if (!rare.operands)
    rare.operands = std::make_unique<OperandSnapshot>();
  rare.operands->addAround(op);
}

void Observer::recordHeirs(const Frame &frame) {
  std::unordered_set<uint64_t> known;
  frame.rare().operands->heirs(
      frame.tally.firstId, [&](uint32_t id, uint32_t erased) {
        if (known.insert(uint64_t(id) << 32 | erased).second)
          recorder->link(LinkKind::Heir, frame.ordinal, id, erased);
      });
}

void Observer::created(Operation *op) {
  uint32_t id = ids.created(op);
  // The tool registers the traits of a name at the first question about them:
  // not later in a session than in a recording.
  mayBeFunction(op);
  notifyWatches([=](Watch &watch) { watch.created(op, id); });
}

void Observer::placed(Operation *op) {
  UpstreamLog::changed();
  settle();
  Identities::Known known = ids.place(op);
  uint32_t id = known.id;
  bool wasPlaced = known.wasPlaced;
  // Its nested operations have a function only now, or another one.
  if (hasDescribed() && (wasPlaced || op->getNumRegions()))
    Recorder::forgetAll(op);
  if (recorder && op->getNumRegions())
    recorder->forgetPlaces();
  notifyWatches([=](Watch &watch) { watch.placed(op, id, !wasPlaced); });
  if (!wasPlaced && followsLineage())
    recordOrigin(op, id);
  ChangeKind kind = wasPlaced ? ChangeKind::Moved : ChangeKind::Inserted;
  if (!isTalliedNow(kind))
    return;
  add(kind, op, id, isOfThisAction(id));
  if (wasPlaced)
    notifyWatches([=](Watch &watch) { watch.moved(op); });
}

bool Observer::hasDescribed() const { return recorder && Layout::isDecided(); }

/// Whether the same function is around two operations, which may be null.
static bool areInOneFunction(Operation *one, Operation *other) {
  return symbolAround(one) == symbolAround(other);
}

void Observer::moved(Operation *op, Region *from) {
  UpstreamLog::changed();
  settle();
  notifyWatches([=](Watch &watch) { watch.moved(op); });
  if (hasDescribed() && from != op->getBlock()->getParent()) {
    ids.forget(op); // its function may have changed
    if (op->getNumRegions() &&
        !areInOneFunction(from ? from->getParentOp() : nullptr,
                          op->getParentOp())) {
      recorder->forgetPlaces();
      Recorder::forgetAll(op);
    }
  }
  if (!isTalliedNow(ChangeKind::Moved))
    return;
  uint32_t id = ids.of(op);
  if (isLast(ChangeKind::Moved, id))
    return;
  add(ChangeKind::Moved, op, id, isOfThisAction(id));
}

void Observer::destroyed(Operation *op) {
  UpstreamLog::changed();
  provenance.destroyed(op);
  settle();
  Identities::Known ended = ids.destroyed(op);
  notifyWatches([=](Watch &watch) { watch.destroyed(op, ended.wasPlaced); });
  if (op == digested)
    digested = nullptr;
  wasDescribed = ended.wasDescribed;
  if (!ended.wasPlaced || !isTalliedNow(ChangeKind::Erased))
    return;
  Tally &tally = innermost->tally;
  // Created, folded at once and erased: there was no change.
  bool isNew = isOfThisAction(ended.id);
  if (isNew && isLast(ChangeKind::Inserted, ended.id)) {
    log.dropLast();
    if (recorder)
      recorder->dropLastChange();
    last = {};
    --tally.counts[static_cast<unsigned>(ChangeKind::Inserted)];
    --tally.net;
    tally.ownNet -= !isFollowUp();
    return;
  }
  add(ChangeKind::Erased, op, ended.id, isNew);
  if (fold.id == ended.id)
    fold.pending = false;
}

ValueName Observer::nameOf(Value value) const {
  if (auto result = dyn_cast<OpResult>(value))
    return {ids.of(result.getOwner()), result.getResultNumber(), false,
            result.getOwner()->getName().getStringRef()};
  auto argument = cast<BlockArgument>(value);
  Operation *holder = argument.getOwner()->getParentOp();
  if (!holder)
    return {0, argument.getArgNumber(), true, ""};
  return {ids.of(holder), argument.getArgNumber(), true,
          holder->getName().getStringRef()};
}

void Observer::replaced(Operation *op, ValueRange by, bool isGuess) {
  UpstreamLog::changed();
  settle();
  if (innermost && !isTallied)
    return countOnly(ChangeKind::Replaced);
  SmallVector<ValueName, 4> names;
  Operation *next = nullptr;
  for (Value value : by.values()) {
    // A recording names only the first, unless it follows lineage.
    if (!value || !needsReplacements() ||
        (!isDetailed && !names.empty() && !Recorder::followsLineage()))
      continue;
    if (names.empty())
      next = value.getDefiningOp();
    names.push_back(nameOf(value));
  }
  if (!names.empty())
    notifyWatches(
        [&](Watch &watch) { watch.replaced(op, names.front(), next); });
  if (!innermost)
    return;
  uint32_t id = ids.of(op);
  Detail detail{/*isBlock=*/false, isGuess, names};
  add(ChangeKind::Replaced, op, id, isOfThisAction(id), detail);
  if (recorder && Recorder::followsLineage())
    recorder->replacements(
        {ChangeKind::Replaced, op, id, ordinalNow(), detail});
}

void Observer::cloned(Operation *from, Operation *to) {
  if (followsLineage())
    recorder->link(LinkKind::Cloned, ordinalNow(), ids.of(to), ids.of(from));
}

void Observer::tookBody(Block *block, Operation *from) {
  settle();
  if (followsLineage() && Frame::seesChanges)
    provenance.tookBody(block, from, ordinalNow(), innermost->tally.firstId,
                        *recorder);
}

/// Whether it is the CSE pass, or the step of a schedule that does the same.
static bool isCse(const Frame &frame) {
  if (frame.kind == Kind::Pass)
    return frame.pass()->getArgument() == "cse";
  Operation *step = frame.kind == Kind::Step ? frame.op() : nullptr;
  return step && step->getName().getStringRef() == "transform.apply_cse";
}

/// Whether all ways from the entry of the region to `block` lead through
/// `other`.
static bool isDominatedBy(Block *block, Block *other) {
  constexpr size_t most = 1024; // blocks: further ones are not searched
  if (other->isEntryBlock())
    return true;
  std::vector<Block *> open{&block->getParent()->front()};
  std::unordered_set<Block *> seen{other, open.front()};
  while (!open.empty()) {
    Block *next = open.back();
    open.pop_back();
    if (next == block || seen.size() > most)
      return false;
    if (next->empty())
      continue;
    for (Block *successor : next->back().getSuccessors())
      if (seen.insert(successor).second)
        open.push_back(successor);
  }
  return true;
}

/// Whether the values of `other`, which is before `op` in the text, can be used
/// in the place of those of `op`.
static bool isVisible(Operation *other, Operation *op) {
  Block *block = op->getBlock();
  while (block && block != other->getBlock() &&
         block->getParent() != other->getParentRegion()) {
    Operation *around = block->getParentOp();
    block = around && !isIsolated(around) ? around->getBlock() : nullptr;
  }
  return block && (block == other->getBlock() ||
                   isDominatedBy(block, other->getBlock()));
}

/// The last of the equivalent operations before one, which has its uses now.
/// The CSE pass replaces the uses one by one and then erases the unused
/// operation, without a notification that names both.
class CseReplacement {
public:
  CseReplacement(Operation *op, const Places &places) : op(op), places(places) {
    if (auto place = places.find(op); place != places.end())
      end = place->second;
    if (!op->getBlock() || !op->use_empty() || !end)
      return;
    if (op->getNumOperands()) {
      if (Value operand = op->getOperand(0))
        for (Operation *user : operand.getUsers())
          if (!consider(user))
            return;
      return;
    }
    for (Block *block = op->getBlock(); block;) {
      if (!search(*block))
        return;
      if (Region *region = block->getParent())
        for (Block &other : *region)
          if (&other != block && !search(other))
            return;
      Operation *parent = block->getParentOp();
      block = parent && !isIsolated(parent) ? parent->getBlock() : nullptr;
    }
  }

  Operation *found = nullptr;

private:
  /// Returns whether to go on behind a block.
  bool search(Block &block) {
    for (Operation &other : block)
      if (!consider(&other))
        return false;
    return !found;
  }

  /// Returns whether to go on.
  bool consider(Operation *other) {
    if (!passes--)
      return false;
    if (other->getName() != op->getName())
      return true;
    if (!left--)
      return false;
    auto place = places.find(other);
    if (place == places.end() || place->second <= last || place->second >= end)
      return true;
    if (!other->use_empty() &&
        OperationEquivalence::isEquivalentTo(
            op, other, OperationEquivalence::IgnoreLocations) &&
        isVisible(other, op)) {
      found = other;
      last = place->second;
    }
    return true;
  }

  Operation *op;
  const Places &places;
  uint32_t last = 0, end = 0;
  // Bounded: a value with many uses would make the search quadratic.
  unsigned passes = 4096, left = 256; // operations, and those of the same name
};

Operation *Observer::cseReplacement(Operation *op) const {
  if (!needsReplacements() || !isCse(*innermost) || !ids.of(op))
    return nullptr;
  return CseReplacement(op, innermost->rare().places).found;
}

void Observer::modified(Operation *op) {
  UpstreamLog::changed();
  if (hasDescribed() && mayBeFunction(op)) {
    recorder->forgetPlaces(); // it may have been renamed
    Recorder::forgetRenamed(op);
  }
  if (!isTalliedNow(ChangeKind::Modified))
    return;
  uint32_t id = ids.of(op);
  // Reported once for each operand that is set: one change is enough.
  if (isLast(ChangeKind::Modified, id))
    return;
  add(ChangeKind::Modified, op, id, isOfThisAction(id));
}

void Observer::blockChanged(Block *block, ChangeKind kind) {
  UpstreamLog::changed();
  settle();
  if (kind == ChangeKind::Erased)
    provenance.forgetBlock(block);
  if (recorder)
    recorder->forgetPlaces();
  Operation *holder = innermost && isTallied ? block->getParentOp() : nullptr;
  if (!holder)
    return;
  uint32_t id = ids.of(holder);
  // The blocks of an operation that is being created or destroyed are part of
  // that change.
  if (!id || isOfThisAction(id))
    return;
  Detail detail;
  detail.isBlock = true;
  add(kind, holder, id, /*isNew=*/false, detail);
}

void Observer::blockMoved(Block *block, Operation *from) {
  if (!hasDescribed() || areInOneFunction(from, block->getParentOp()))
    return;
  recorder->forgetPlaces();
  for (Operation &op : *block)
    Recorder::forgetAll(&op);
}

void Observer::diagnosed() {
  if (innermost)
    ++innermost->errors;
}

//===----------------------------------------------------------------------===//
// The life of an action
//===----------------------------------------------------------------------===//

void Observer::begin(Frame &frame, bool isCounted) {
  settle();
  if (frame.wantsModified) {
    // A whole function would take longer than a pattern or a fold does.
    bool isSmall = frame.kind <= Kind::Pattern;
    if (Operation *scope = scopeOf(frame))
      frame.needRare().snapshot = std::make_unique<Snapshot>(
          isSmall ? Snapshot::near(frame.op(), scope) : Snapshot::of(scope));
  } else if (isRunByDigest(frame) &&
             (isCounted || recorder || !frame.rare().undecided.empty() ||
              (frame.kind == Kind::Step && isTallied))) {
    if (Operation *op = digestedBy(frame)) {
      bool isKnown = op == digested && digestedAt == log.end();
      frame.digest = isKnown ? digestOfIt : digest(op) | 1;
    }
  }
  if (Operation *root =
          needsReplacements() && isCse(frame) ? digestedBy(frame) : nullptr)
    root->walk([&places = frame.needRare().places](Operation *op) {
      if (op->getNumResults() && !op->use_empty())
        places.emplace(op, uint32_t(places.size() + 1));
    });
  if (LLVM_UNLIKELY(PatternChecks::areOn) && frame.kind == Kind::Pattern &&
      recorder)
    checks.begin(frame);
  if (isCounted)
    frame.began = now() - stopTime;
}

void Observer::findUnreported(Frame &frame) {
  if (frame.rare().snapshot) {
    std::unique_ptr<Snapshot> before = std::move(frame.needRare().snapshot);
    std::unordered_set<uint32_t> known;
    for (uint64_t i = std::max(frame.tally.first, log.begin()); i < log.end();
         ++i)
      known.insert(log[i].id);
    for (Operation *op : before->modified())
      if (!known.contains(ids.of(op)))
        add(ChangeKind::Modified, op, ids.of(op), /*isNew=*/false);
  } else if (frame.digest && frame.tally.net <= 0) {
    Operation *op = digestedBy(frame);
    if (!op)
      return;
    digested = op;
    digestOfIt = digest(op) | 1;
    digestedAt = log.end();
    if (digestOfIt == frame.digest)
      return;
    // Something in it was modified without a notification.
    Detail detail;
    detail.isGuess = true;
    add(ChangeKind::Modified, op, ids.of(op), /*isNew=*/false, detail);
    digestedAt = log.end();
  }
}

void Observer::returnOf(Frame &frame) {
  bool isLeft = frame.returned == Returned::Failure; // by an exception
  if (frame.kind == Kind::Pass) {
    const auto &state = frame.pass()->passState;
    bool isFailed = isLeft || (state && state->irAndPassFailed.getInt());
    frame.returned = isFailed ? Returned::Failure : Returned::Success;
    if (isFailed)
      Stages::failed();
  } else if (frame.kind >= Kind::Iteration && frame.kind != Kind::Step) {
    // Upstream does not expose the result; each failure emits an error.
    bool isFailed = isLeft || (frame.isConversion() && frame.errors);
    frame.returned = isFailed ? Returned::Failure : Returned::Success;
  }
}

void Observer::count(Frame &frame) {
  if (!frame.skipped)
    frame.took = now() - stopTime - frame.began;
  statistics.of(frame).count(frame);
}

void Observer::end(Frame &frame, bool isCounted) {
  settle();
  if (!frame.skipped) {
    returnOf(frame);
    if (frame.rare().operands)
      recordHeirs(frame);
    if (frame.digest || frame.rare().snapshot)
      findUnreported(frame);
  }
  if (LLVM_UNLIKELY(checks.isChecking()))
    checks.end(frame, *recorder);
  if (isCounted)
    count(frame);
  else
    ++uncounted;
  // What an iteration changed is then known by its patterns and folds alone.
  if (LLVM_UNLIKELY(!Frame::seesChanges) && frame.parent &&
      frame.parent->kind == Kind::Iteration &&
      frame.result() == Result::Succeeded)
    ++frame.parent->changesElsewhere;
  if (frame.kind == Kind::Fold && frame.returned == Returned::Success &&
      frame.found != Found::InPlace)
    fold = LastFold{frame.ordinal, frame.foldedId, nameFrom(frame.nameKey),
                    frame.parent, true};
  if (frame.kind == Kind::Pattern && frame.conversion) {
    frame.conversion->legalized += frame.returned == Returned::Success;
    frame.conversion->rolledBack += frame.returned == Returned::RolledBack;
  }
}

void Observer::leaveOutermost() {
  log.clear();
  provenance.forget();
  // Another thread may take the operations over.
  if (recorder)
    digested = nullptr;
}

Culprit Observer::culpritNow() const {
  if (fold.ordinal && fold.caller == innermost)
    return {fold.ordinal, "fold", fold.name.str(), true};
  return innermost ? Culprit::of(*innermost) : Culprit();
}

void Observer::watch(std::vector<Breakpoint> &breakpoints) {
  watches.clear();
  Operation *anywhere = opAround(innermost);
  for (Breakpoint &one : breakpoints) {
    // A disabled one follows its operation too, for when it is enabled.
    if (!one.watch)
      continue;
    one.watch->arm(anywhere);
    watches.push_back(&one);
  }
}

//===----------------------------------------------------------------------===//
// IR units erased during their action
//===----------------------------------------------------------------------===//

ErasedUnit ErasedUnits::describe(size_t unit, Operation *op) const {
  return ErasedUnit{unit, ids.of(op), op->getName(), op->getLoc(),
                    // The function is needed at stops only.
                    passesOnly ? StringAttr() : symbolAround(op), nullptr};
}

void ErasedUnits::noteErased(Operation *op) {
  for (Frame *frame = observer.innermost; frame; frame = frame->parent) {
    if (!tracks(*frame))
      continue;
    if (!frame->rare().erased.empty())
      for (ErasedUnit &erased : frame->needRare().erased)
        if (erased.by == op)
          erased.by = nullptr;
    for (size_t i = 0; i < frame->units.size(); ++i)
      if (!frame->erasedUnit(i) && holderOf(frame->units[i]) == op)
        frame->needRare().erased.push_back(describe(i, op));
  }
}

void ErasedUnits::noteReplaced(Operation *op, ValueRange by) {
  Operation *holder = nullptr;
  for (Value value : by.values())
    if (value && !holder)
      holder = holderOf(IRUnit(value));
  for (Frame *frame = observer.innermost; holder && frame;
       frame = frame->parent) {
    if (!tracks(*frame))
      continue;
    for (size_t i = 0; i < frame->units.size(); ++i) {
      if (frame->opOfUnit(i) != op)
        continue;
      const ErasedUnit *before = frame->erasedUnit(i);
      ErasedUnit erased = before ? *before : describe(i, op);
      erased.by = holder;
      std::vector<ErasedUnit> &all = frame->needRare().erased;
      std::erase_if(all, [&](ErasedUnit &old) { return old.unit == i; });
      all.push_back(erased);
    }
  }
}

} // namespace adbg
