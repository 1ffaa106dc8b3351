#include "record/Recorder.h"
#include "print/InputNames.h"
#include "support/Locations.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

Recorder::Recorder(OperationNames &names) : names(names) {
  for (unsigned space = 0; space < spaces; ++space)
    dictionaries.emplace_back(static_cast<Space>(space));
  samples.size = 8 + 8 * Counters::size();
  if (Counters::size())
    counters.open();
  if (wantedIR == RecordedIR::Function || wantedIR == RecordedIR::Pass)
    ir = std::make_unique<FunctionKeeper>(wantedIR == RecordedIR::Pass, irOf);
  else if (wantedIR == RecordedIR::Changed)
    ir = std::make_unique<OperationKeeper>();
  enlist();
}

Recorder::~Recorder() {
  flushNow();
  delist();
}

void Recorder::beginIR(const Frame &frame) {
  int64_t start = Observer::now();
  if (!frame.parent && frame.kind != Kind::Fold && frame.op()) {
    InputNames::all().reached(frame.op());
    if (std::string names = InputNames::all().takeNew(); !names.empty())
      of(Space::Values, names);
  }
  ir->begin(frame);
  irTime += Observer::now() - start;
  irTimes.push_back(irTime);
}

int64_t Recorder::endIR(const Frame &frame) {
  int64_t inside = irTime - irTimes.back();
  irTimes.pop_back();
  int64_t start = Observer::now();
  ir->end(frame);
  irTime += Observer::now() - start;
  return inside;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void Recorder::flush() {
  flushes = flushes + 1;
  if (!isPending())
    return;
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
  // The rows of a thread that was busy when its recording ended are dropped.
  if (file == RecordFile::count())
    RecordFile::write(header,
                      {actions, strings.part(), locations.part(),
                       operations.part(), patches.part(), changes.part(),
                       reasons.part(), texts, irs, samples.part(), links.part(),
                       contexts.part(), findings.part()});
  firstRow += count;
  count = 0;
  for (Section *one : {&strings, &locations, &patches, &reasons, &samples,
                       &contexts, &findings})
    one->clear();
  if (ir) {
    ir->texts.section.clear();
    ir->rows.clear();
  }
  for (PackedSection *one : {&operations, &changes, &links})
    one->restart();
}

bool Recorder::isPending() const {
  return count || patches.count || changes.count || reasons.count ||
         samples.count || links.count || findings.count ||
         (ir && ir->rows.count);
}

void Recorder::beginChunk() {
  base = newest;
  wakeIn(longestWait);
}

void Recorder::patch(PatchRow row) {
  if (!isPending())
    wakeIn(longestWait);
  patches.add(row);
}

void Recorder::left(const Frame &frame) {
  AgentHeap agentHeap; // a crash may have been in the tool's
  Busy busy(*this);
  newest = Observer::now();
  // Not 0, which is the duration of actions that run.
  uint64_t duration =
      std::max<uint64_t>(1, (newest - frame.began) / RecordFile::unit);
  patch({static_cast<uint32_t>(frame.ordinal - 1), 0, frame.changed(), 0,
         duration});
}

bool Recorder::isLarge() const {
  size_t bytes = strings.bytes.size() + changes.bytes.size() +
                 operations.bytes.size() + samples.bytes.size() +
                 links.bytes.size() + (ir ? ir->texts.section.bytes.size() : 0);
  return count && bytes > mostBytes;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

uint32_t Recorder::textOfName(const Frame &frame) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // A pass is recorded with its argument and its name.
  std::string full =
      frame.pass() ? frame.pass()->getName().str() : frame.fullName();
  os << frame.tag() << '\0' << frame.name() << '\0' << full << '\0';
  auto write = [&](StringRef label) { os << label; };
  llvm::interleave(frame.labels(), os, write, "\x1f");
  if (StringRef unnamed = frame.unnamed(); !unnamed.empty())
    os << '\0' << unnamed;
  return of(Space::Action, text);
}

uint32_t Recorder::nameOfOther(const Frame &frame) {
  if (frame.kind == Kind::Pattern)
    return patternNames.get(foundNameOf(*frame.pattern()).name,
                            [&] { return textOfName(frame); });
  if (frame.kind == Kind::Pass) {
    auto compute = [&] { return textOfName(frame); };
    if (StringRef name = frame.pass()->getArgument(); !name.empty())
      return passNames.get(name, compute);
    return passNames.get(frame.pass()->getName(), compute);
  }
  return nameOfText(frame);
}

uint32_t Recorder::nameOfText(const Frame &frame) {
  std::string text = frame.tag().str() + '\0' + frame.text();
  if (textNames.size() == mostTexts)
    textNames.clear();
  uint32_t &name = textNames[text];
  if (!name)
    name = textOfName(frame);
  return name;
}

uint32_t Recorder::writeLocation(Location location) {
  LocationRow row{++lastLocation, 0, 0, 0, 0};
  if (std::optional<FilePlace> place = firstPlace(location)) {
    StringRef name = place->file.getValue();
    row.file = files.get(name, [&] { return of(Space::File, name); });
    row.line = place->line;
    row.column = place->column;
  }
  if (!isStrictFileLineColLoc(location) && !isa<UnknownLoc>(location)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    location.print(os);
    row.text = of(Space::Location, StringRef(text).take_front(4096));
  }
  locations.add(row);
  return lastLocation;
}

uint32_t Recorder::findFunction(Operation *op) {
  Operation *holder = op;
  while (holder && !mayBeFunction(holder))
    holder = holder->getParentOp();
  if (!holder)
    return 0;
  // An operation described for its own sake may be about to get its symbol name
  // or its place.
  uint32_t id = ids.of(holder);
  if (id && holder != op && knownFunction.id == id &&
      knownFunction.places == places)
    return knownFunction.function;
  uint32_t function = numberOfSymbol(holder);
  knownFunction = {id, function, places};
  return function;
}

uint32_t Recorder::numberOfSymbol(Operation *holder) {
  // Compare the attribute by identity: reading its text would touch cold
  // memory.
  Attribute own = holder->getAttr(SymbolTable::getSymbolAttrName());
  const void *key = own.getAsOpaquePointer();
  if (uint32_t number = key ? functionNumbers.find(key) : 0)
    return number;
  StringAttr name = symbolAround(holder);
  if (!name)
    return 0;
  uint32_t number = of(Space::Function, name.getValue());
  if (name == own)
    functionNumbers.set(key, number);
  return number;
}

uint32_t Recorder::describeAs(Operation *op, uint32_t id) {
  NameFacts &name = names.of(op);
  if (LLVM_UNLIKELY(!name.number))
    name.number = of(Space::Operation, op->getName().getStringRef());
  uint32_t nameId = name.number;
  uint32_t function = functionOf(op);
  operations.pack({int64_t(firstRow + count), int64_t(id),
                   int64_t(locationOf(op->getLoc())), int64_t(function)},
                  {nameId});
  return function;
}

uint32_t Recorder::describeNew(Operation *op) {
  uint32_t id = ids.describe(op).id;
  // Not inserted in its final place yet: describe it again later.
  if (!describeAs(op, id) && op->getBlock() && !op->getParentOp())
    ids.forget(op);
  return id;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void Recorder::link(LinkKind kind, uint64_t ordinal, uint32_t id,
                    uint32_t from) {
  Busy busy(*this);
  uint64_t difference = PackedSection::zigzag(int64_t(from) - id);
  links.pack({int64_t(ordinal - 1), int64_t(id)}, {uint64_t(kind), difference});
}

void Recorder::uses(Operation *op, uint32_t id, uint64_t ordinal) {
  for (Value value : op->getOperands()) {
    Operation *definer = value ? value.getDefiningOp() : nullptr;
    link(LinkKind::Uses, ordinal, id, definer ? ids.of(definer) : 0);
  }
}

void Recorder::replacements(const Changed &change) {
  llvm::ArrayRef<ValueName> by = change.detail.by;
  uint32_t last = 0;
  for (const ValueName &value : by) {
    bool isRecorded = &value == by.begin() && !value.isArgument;
    if (value.id && value.id != last && !isRecorded)
      link(value.isArgument ? LinkKind::ReplacedByArgument : LinkKind::Replaced,
           change.ordinal, value.id, change.id);
    last = value.id;
  }
}

void Recorder::finding(const Frame &frame, Rule rule, Operation *op,
                       StringRef text) {
  Busy busy(*this);
  uint32_t id = op ? describe(op) : 0;
  findings.add(FindingRow{
      static_cast<uint32_t>(frame.ordinal - 1), id, static_cast<uint32_t>(rule),
      text.empty() ? 0 : of(Space::Reason, text.take_front(4096))});
}

void Recorder::dropLastChange() {
  Busy busy(*this);
  // The change may be in a written chunk; then its undo follows in a later one.
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
