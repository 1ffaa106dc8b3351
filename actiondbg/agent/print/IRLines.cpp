#include "print/IRLines.h"
#include "engine/Describe.h"

namespace adbg {

const PrintedOperation &IRLines::printed(Operation *op) {
  auto [entry, isNew] = all.try_emplace(op);
  if (isNew)
    entry->second = printer.print(op);
  return entry->second;
}

/// Returns how `parent` prints a region, and the region's number among those it
/// prints; null if it does not print it.
const PrintedRegion *IRLines::regionAround(Operation *parent, Region *region,
                                           unsigned &index) {
  index = 0;
  for (const PrintedRegion &one : printed(parent).regions) {
    if (one.region == region)
      return &one;
    ++index;
  }
  return nullptr;
}

/// Whether an implicit terminator is left out: in the first block of a region.
bool IRLines::isElided(Operation *op) {
  Region *region = op->getParentRegion();
  if (!region || !region->getParentOp() || op->getNextNode() ||
      !op->getBlock()->isEntryBlock() || !isTerminator(op))
    return false;
  unsigned index;
  const PrintedRegion *around =
      regionAround(region->getParentOp(), region, index);
  return around && !around->hasTerminators;
}

bool IRLines::isShown(Operation *op) {
  Region *region = op->getParentRegion();
  if (!region || !region->getParentOp())
    return true;
  unsigned index;
  return regionAround(region->getParentOp(), region, index) && !isElided(op);
}

bool IRLines::hasLabel(Block *block) {
  if (!block->isEntryBlock())
    return true;
  unsigned index;
  const PrintedRegion *around =
      regionAround(block->getParentOp(), block->getParent(), index);
  return around && ((around->hasEntryArguments && block->getNumArguments()) ||
                    (around->hasEmptyBlock && block->empty()));
}

LinePlace IRLines::placeOf(const IRUnit &unit) {
  Operation *op = holderOf(unit);
  auto *block = dyn_cast_if_present<Block *>(unit);
  // From the outside in: what is in a region that is not printed is not either.
  std::vector<Operation *> around;
  for (Operation *each = op; each; each = each->getParentOp())
    around.push_back(each);
  Operation *shown = nullptr;
  std::ranges::reverse(around);
  for (Operation *each : around) {
    if (!isShown(each))
      break;
    shown = each;
  }
  unsigned index;
  if (block && shown == op && regionAround(op, block->getParent(), index) &&
      hasLabel(block))
    return {nullptr, 0, block};
  return {shown, 0, nullptr};
}

LinePlace IRLines::firstOf(Block *block) {
  if (hasLabel(block))
    return {nullptr, 0, block};
  if (block->empty() || isElided(&block->front()))
    return after(block);
  return {&block->front(), 0, nullptr};
}

LinePlace IRLines::lastOf(Operation *op) {
  return {op, partsOf(op) - 1, nullptr};
}

LinePlace IRLines::lastOf(Block *block) {
  Operation *last = block->empty() ? nullptr : &block->back();
  if (last && isElided(last))
    last = last->getPrevNode();
  if (last)
    return lastOf(last);
  return hasLabel(block) ? LinePlace{nullptr, 0, block} : before(block);
}

/// The line after the last one of a block.
LinePlace IRLines::after(Block *block) {
  if (Block *next = block->getNextNode())
    return firstOf(next);
  unsigned index;
  Operation *parent = block->getParentOp();
  if (!regionAround(parent, block->getParent(), index))
    return {};
  return {parent, index + 1, nullptr};
}

/// The line before the first one of a block.
LinePlace IRLines::before(Block *block) {
  if (Block *previous = block->getPrevNode())
    return lastOf(previous);
  unsigned index;
  Operation *parent = block->getParentOp();
  if (!regionAround(parent, block->getParent(), index))
    return {};
  return {parent, index, nullptr};
}

LinePlace IRLines::next(LinePlace place) {
  if (place.label) {
    Block *block = place.label;
    return block->empty() || isElided(&block->front())
               ? after(block)
               : LinePlace{&block->front(), 0, nullptr};
  }
  if (!place.op)
    return {};
  const PrintedOperation &text = printed(place.op);
  if (place.part + 1 < text.parts.size()) {
    Region *region = text.regions[place.part].region;
    return region->empty() ? LinePlace{place.op, place.part + 1, nullptr}
                           : firstOf(&region->front());
  }
  Block *block = place.op->getBlock();
  if (!block)
    return {};
  Operation *next = place.op->getNextNode();
  if (next && !isElided(next))
    return {next, 0, nullptr};
  return block->getParentOp() ? after(block) : LinePlace();
}

LinePlace IRLines::previous(LinePlace place) {
  if (place.label)
    return before(place.label);
  if (!place.op)
    return {};
  if (place.part > 0) {
    Region *region = printed(place.op).regions[place.part - 1].region;
    return region->empty() ? LinePlace{place.op, place.part - 1, nullptr}
                           : lastOf(&region->back());
  }
  Block *block = place.op->getBlock();
  if (!block || !block->getParentOp())
    return {};
  if (Operation *previous = place.op->getPrevNode())
    return lastOf(previous);
  return hasLabel(block) ? LinePlace{nullptr, 0, block} : before(block);
}

int64_t IRLines::depthOf(const LinePlace &place) {
  int64_t depth = 0;
  unsigned index;
  Region *region =
      place.label ? place.label->getParent() : place.op->getParentRegion();
  if (place.label) // as its operation
    --depth;
  if (!place.label && place.part)
    depth += printed(place.op).regions[place.part - 1].indent;
  for (; region && region->getParentOp(); region = region->getParentRegion()) {
    ++depth;
    if (const PrintedRegion *around =
            regionAround(region->getParentOp(), region, index))
      depth += around->indent;
  }
  return depth;
}

Object IRLines::describe(const LinePlace &place) {
  Operation *op = place.label ? place.label->getParentOp() : place.op;
  std::string text = place.label ? printer.label(place.label)
                                 : printed(place.op).parts[place.part];
  return Object{{"kind", place.label  ? "label"
                         : place.part ? "part"
                                      : "operation"},
                {"id", idOrNull(ids.of(op))},
                {"part", int64_t(place.part)},
                {"depth", depthOf(place)},
                {"text", text}};
}

} // namespace adbg
