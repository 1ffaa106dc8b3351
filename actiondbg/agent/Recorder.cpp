//===- Recorder.cpp - Writing down the actions of one thread
//----------------===//

#include "Recorder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

static std::atomic<unsigned> contextsMade{0};
void Recorder::forgetContexts() { ++contextsMade; }

Recorder::Recorder(Identities &ids) : ids(ids) {
  for (unsigned space = 0; space < spaces; ++space)
    dictionaries.emplace_back(static_cast<Space>(space));
  samples.size = 8 + 8 * Counters::size();
  if (Counters::size())
    counters.open();
  if (wantedIR == RecordedIR::Function)
    ir = std::make_unique<FunctionKeeper>(ids);
  else if (wantedIR == RecordedIR::Changed)
    ir = std::make_unique<OperationKeeper>(ids);
  enlist();
}

Recorder::~Recorder() {
  flush();
  delist();
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void Recorder::flush() {
  Part actions{SectionKind::Actions, sizeof(ActionRow),
               static_cast<uint32_t>(count), rows.get(),
               count * sizeof(ActionRow)};
  ChunkHeader header;
  header.thread = thread;
  header.firstRow = firstRow;
  header.base = base;
  Part texts{SectionKind::Texts, 0, 0, nullptr, 0}, irs = texts;
  if (ir) {
    texts = ir->texts.section.part();
    irs = ir->rows.part();
  }
  RecordFile::write(header, {actions, strings.part(), locations.part(),
                             operations.part(), patches.part(), changes.part(),
                             reasons.part(), texts, irs, samples.part()});
  firstRow += count;
  count = 0;
  for (Section *one : {&strings, &locations, &patches, &reasons, &samples})
    one->clear();
  if (ir) {
    ir->texts.section.clear();
    ir->rows.clear();
  }
  operations.clear();
  changes.clear();
}

/// Whether what waits has to be written before the next action: it is much, or
/// old.
bool Recorder::isFull() const {
  if (count == 0)
    return false;
  // A third of a second or so: so much is lost if the tool is killed.
  constexpr int64_t longest = int64_t(1) << 30;
  return count == most || newest - base > longest ||
         strings.bytes.size() + changes.bytes.size() + operations.bytes.size() +
                 samples.bytes.size() +
                 (ir ? ir->texts.section.bytes.size() : 0) >
             mostBytes;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

uint32_t Recorder::textOfName(const Frame &frame) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // A pass is known by its argument, and by its name.
  std::string full =
      frame.pass() ? frame.pass()->getName().str() : frame.fullName();
  os << frame.tag() << '\0' << frame.name() << '\0' << full << '\0';
  llvm::interleave(frame.labels(), os, "\x1f");
  return of(Space::Action, text);
}

uint32_t Recorder::nameOf(const Frame &frame) {
  auto compute = [&] { return textOfName(frame); };
  switch (frame.kind) {
  case Kind::Pattern:
    if (StringRef name = frame.pattern()->getDebugName(); !name.empty())
      return patternNames.get(name, compute);
    return compute();
  case Kind::Fold:
    return foldNames.get(frame.foldedName, compute);
  case Kind::Pass:
    if (StringRef name = frame.pass()->getArgument(); !name.empty())
      return passNames.get(name, compute);
    return passNames.get(frame.pass()->getName(), compute);
  default:
    return compute();
  }
}

uint32_t Recorder::locationOf(Location location) {
  // Operations that are made one after the other mostly have one location.
  const void *key = location.getAsOpaquePointer();
  if (key == newestLocation.first && contexts == contextsMade)
    return newestLocation.second;
  newestLocation = {key, findLocation(location)};
  return newestLocation.second;
}

uint32_t Recorder::findLocation(Location location) {
  if (contexts != contextsMade || locationIds.size() >= mostLocations) {
    locationIds.clear();
    contexts = contextsMade;
  }
  auto [entry, isNew] =
      locationIds.try_emplace(location.getAsOpaquePointer(), lastLocation + 1);
  if (!isNew)
    return entry->second;
  LocationRow row{++lastLocation, 0, 0, 0, 0};
  if (std::optional<FilePlace> place = firstPlace(location)) {
    StringRef name = place->file.getValue();
    row.file = files.get(name, [&] { return of(Space::File, name); });
    row.line = place->line;
    row.column = place->column;
  }
  if (!isPoint(location) && !isa<UnknownLoc>(location)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    location.print(os);
    row.text = of(Space::Location, StringRef(text).take_front(4096));
  }
  locations.add(row);
  return lastLocation;
}

uint32_t Recorder::functionOf(Operation *op) {
  Block *block = op->getBlock();
  // One that has regions may be a function itself.
  bool isInBlock = block && op->getNumRegions() == 0;
  KnownBlock &known =
      knownBlocks[(uintptr_t(block) >> 6) % std::size(knownBlocks)];
  if (isInBlock && known.block == block && known.places == places)
    return known.function;
  uint32_t function = 0;
  if (StringAttr name = symbolAround(op))
    function = functions.get(
        name.getValue(), [&] { return of(Space::Function, name.getValue()); });
  if (isInBlock)
    known = {block, places, function};
  return function;
}

void Recorder::describeAs(Operation *op, uint32_t id) {
  StringRef name = op->getName().getStringRef();
  uint32_t nameId =
      opNames.get(name, [&] { return of(Space::Operation, name); });
  operations.pack({int64_t(firstRow + count), int64_t(id),
                   int64_t(locationOf(op->getLoc())), int64_t(functionOf(op))},
                  {nameId});
}

uint32_t Recorder::describe(Operation *op) {
  Identities::Known known = ids.describe(op);
  if (LLVM_LIKELY(known.wasDescribed))
    return known.id;
  describeAs(op, known.id);
  // Not where it belongs yet: to be looked at once more.
  if (!op->getParentOp() && op->getBlock())
    ids.forget(op);
  return known.id;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void Recorder::begin(Frame &frame) {
  Busy busy(*this);
  if (frame.kind == Kind::Pass)
    forgetPlaces();
  if (LLVM_UNLIKELY(ir != nullptr))
    ir->begin(frame);
  if (LLVM_UNLIKELY(isFull()))
    flush();
  Operation *op = frame.units.empty() ? nullptr : holderOf(frame.units[0]);
  ActionRow &row = rows[count];
  row.operation = op ? describe(op) : 0;
  row.name = nameOf(frame);
  row.depth = std::min(frame.depth, 0xffffu);
  row.outcome = row.flags = 0;
  row.duration = 0;
  if (LLVM_UNLIKELY(Counters::size()))
    beginSample();
  // Last, so that what is done here is not counted as the action's.
  newest = Observer::now();
  if (count == 0)
    base = newest;
  row.start = (newest - base) / RecordFile::unit;
  ++count;
  frame.began = newest;
}

static uint8_t outcomeOf(const Frame &frame) {
  switch (frame.result()) {
  case Result::Succeeded:
    return 1;
  case Result::Unchanged:
    return 2;
  case Result::Failed:
    return 3;
  case Result::Skipped:
    return 4;
  }
  return 0;
}

static uint8_t flagsOf(const Frame &frame) {
  uint8_t flags = frame.changed();
  if (frame.returned == Returned::RolledBack)
    flags |= 2;
  return flags | static_cast<uint8_t>(frame.found) << 4;
}

void Recorder::end(const Frame &frame, int64_t now) {
  Busy busy(*this);
  if (LLVM_UNLIKELY(Counters::size()))
    endSample(frame);
  if (LLVM_UNLIKELY(ir != nullptr))
    ir->end(frame);
  newest = now;
  uint64_t duration = (now - frame.began) / RecordFile::unit;
  uint64_t row = frame.ordinal - 1;
  uint8_t outcome = outcomeOf(frame), flags = flagsOf(frame);
  if (LLVM_UNLIKELY(row < firstRow || duration > UINT32_MAX))
    return patches.add(
        PatchRow{static_cast<uint32_t>(row), outcome, flags, 0, duration});
  ActionRow &there = rows[row - firstRow];
  there.duration = duration;
  there.outcome = outcome;
  there.flags = flags;
}

void Recorder::reason(const Frame &frame, StringRef text) {
  Busy busy(*this);
  reasons.add(ReasonRow{static_cast<uint32_t>(frame.ordinal - 1),
                        of(Space::Reason, text.take_front(4096))});
}

void Recorder::change(const Changed &change) {
  Busy busy(*this);
  if (!change.isGone)
    describe(change.op);
  else if (!change.wasDescribed)
    describeAs(change.op, change.id);
  uint64_t code = uint64_t(change.kind) | (change.detail.isBlock ? 8 : 0) |
                  (change.detail.isGuess ? 16 : 0);
  uint64_t by = 0, result = 0;
  if (!change.detail.by.empty() && change.detail.by[0].id &&
      !change.detail.by[0].isArgument) {
    by = 1 + PackedSection::zigzag(int64_t(change.detail.by[0].id) - change.id);
    result = change.detail.by[0].result;
  }
  if (LLVM_UNLIKELY(ir != nullptr))
    ir->change(change);
  changes.pack({int64_t(change.ordinal - 1), int64_t(change.id)},
               {code, by, result});
}

void Recorder::dropLastChange() {
  // It may be written already; then so is what undoes it, later.
  if (changes.count)
    changes.dropLast();
}

void Recorder::beginSample() {
  size_t first = counted.size();
  counted.resize(first + Counters::size());
  if (!counters.read(&counted[first]))
    counted[first] = missing;
}

void Recorder::endSample(const Frame &frame) {
  unsigned size = Counters::size();
  uint64_t now[Counters::most];
  size_t first = counted.size() - size;
  if (counted[first] == missing || !counters.read(now))
    return counted.resize(first);
  uint32_t row[2] = {static_cast<uint32_t>(frame.ordinal - 1), 0};
  samples.append(row, sizeof(row));
  for (unsigned i = 0; i < size; ++i)
    now[i] -= counted[first + i];
  samples.append(now, size * sizeof(uint64_t));
  ++samples.count;
  counted.resize(first);
}

} // namespace adbg
