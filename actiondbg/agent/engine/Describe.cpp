#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/LinePrinter.h"
#include "support/Locations.h"

#include "llvm/ADT/StringExtras.h"

namespace adbg {

uint32_t idOf(const IRUnit &unit) {
  Operation *op = holderOf(unit);
  return op ? ids.of(op) : 0;
}

Array describeWritten() {
  const Written &written = Files::written();
  return Array{int64_t(written.bytes[0]), int64_t(written.bytes[1])};
}

static StringRef whenOf(const Frame &frame, bool inside) {
  if (inside)
    return "during";
  return frame.over ? "after" : "before";
}

Object hello(const Engine &engine) {
  const Frame *at = engine.stops.stoppedAt;
  return Object{{"protocol", 5},
                {"pid", int64_t(getpid())},
                {"parent", int64_t(getppid())},
                {"role", textOf(engine.forks.role)},
                {"ordinal", int64_t(engine.position.ordinal)},
                {"event", int64_t(engine.position.event)},
                {"when", at ? Json(whenOf(*at, engine.stops.inside)) : nullptr},
                {"capabilities", capabilities()},
                {"missing", missingCapabilities()}};
}

std::optional<std::string> placeText(Location loc) {
  std::optional<FilePlace> place = firstPlace(loc);
  if (!place)
    return std::nullopt;
  return place->file.getValue() + ":" + std::to_string(place->line) + ":" +
         std::to_string(place->column);
}

void addOperation(Object &object, const Frame &frame) {
  std::optional<std::string> op, location, function;
  uint32_t id = 0;
  const ErasedUnit *erased =
      frame.units.empty() ? nullptr : frame.erasedUnit(0);
  if (erased) {
    id = erased->id;
    op = erased->name.getStringRef().str();
    location = placeText(erased->location);
    if (erased->function)
      function = erased->function.str();
  } else if (Operation *about = frame.op()) {
    id = ids.of(about);
    op = about->getName().getStringRef().str();
    location = placeText(about->getLoc());
    if (Operation *holder = functionAround(about))
      function = symbolName(holder).str();
  }
  object["id"] = idOrNull(id);
  object["op"] = op;
  object["location"] = location;
  object["function"] = function;
}

void addOperation(Object &object, Operation *op) {
  Operation *holder = functionAround(op);
  object["id"] = idOrNull(ids.of(op));
  object["op"] = op->getName().getStringRef();
  object["location"] = placeText(op->getLoc());
  object["function"] = holder ? Json(symbolName(holder)) : nullptr;
}

static void addAction(Object &object, const Frame &frame) {
  object["ordinal"] = int64_t(frame.ordinal);
  object["tag"] = frame.tag();
  object["name"] = frame.name();
  object["depth"] = int64_t(frame.depth);
  object["context"] = contextJson(frame.context());
  object["mlir"] = mlirJson(frame.context());
}

Object describeStop(const Frame &frame, const Notice &notice,
                    const ChangeLog &log, bool inside, uint64_t mostChanges) {
  Object stop{{"when", whenOf(frame, inside)},
              {"reason", notice.reason},
              {"breakpoints", Array(notice.hit)},
              {"skipped", frame.skipped},
              {"nth", int64_t(frame.nth)},
              {"message",
               notice.message.empty() ? Json(nullptr) : Json(notice.message)},
              {"culprit", describeCulprit(notice.culprit)}};
  addAction(stop, frame);
  StringRef unnamed = frame.unnamed();
  stop["unnamed"] = unnamed.empty() ? Json(nullptr) : Json(unnamed);
  addOperation(stop, frame);
  if (inside) {
    // The action is not over: its outcome is unknown.
    Frame nothing;
    addOutcome(stop, nothing, log, mostChanges);
  } else {
    addOutcome(stop, frame, log, mostChanges);
  }
  return stop;
}

Json describePassRun(const Frame &frame, uint64_t begun) {
  const Frame *pass = frame.passAround();
  if (!pass || !pass->rare().run)
    return nullptr;
  return Object{{"name", pass->name()},
                {"number", int64_t(pass->rare().run)},
                {"begun", int64_t(begun)}};
}

Object describeCrash(const Frame *innermost) {
  if (!innermost)
    return Object{{"ordinal", 0},  {"tag", ""},          {"name", ""},
                  {"op", nullptr}, {"context", nullptr}, {"depth", 0}};
  Object crash;
  addAction(crash, *innermost);
  Operation *op = innermost->op();
  crash["op"] = op ? Json(op->getName().getStringRef()) : nullptr;
  return crash;
}

Array describeHits(ArrayRef<Breakpoint> breakpoints) {
  Array hits;
  for (const Breakpoint &one : breakpoints)
    hits.push_back(Object{{"id", one.id}, {"hits", int64_t(one.hits)}});
  return hits;
}

Object describeFrame(const Frame &frame, int64_t index, bool withUnits) {
  Object object{{"index", index},
                {"units", withUnits ? describeUnits(frame) : Array()}};
  addAction(object, frame);
  addOperation(object, frame);
  return object;
}

Object describeAction(const Frame &frame, int64_t index, bool inside) {
  Object object = describeFrame(frame, index);
  int64_t iteration = frame.iteration();
  Array labels;
  for (StringRef label : frame.labels())
    labels.push_back(label);
  std::optional<std::string> location;
  if (Operation *op = frame.op()) {
    location.emplace();
    raw_string_ostream os(*location);
    op->getLoc().print(os);
  }
  object["fullName"] = frame.fullName();
  object["labels"] = std::move(labels);
  object["iteration"] = iteration < 0 ? Json(nullptr) : Json(iteration);
  object["text"] = frame.text();
  object["fullLocation"] = location;
  object["when"] = whenOf(frame, inside);
  return object;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// One line, with `{...}` in the place of regions.
static std::string oneLine(LinePrinter &printer, Operation *op) {
  return llvm::join(printer.print(op).parts, "...");
}

/// Returns a count and its noun, such as "1 block" and "2 blocks".
static std::string plural(size_t count, StringRef noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

static std::string textOf(const IRUnit &unit, LinePrinter &printer) {
  if (auto *op = dyn_cast_if_present<Operation *>(unit))
    return oneLine(printer, op);
  std::string text;
  raw_string_ostream os(text);
  Operation *holder = holderOf(unit);
  StringRef name = holder ? holder->getName().getStringRef() : "nothing";
  if (auto *region = dyn_cast_if_present<Region *>(unit)) {
    os << "region " << region->getRegionNumber() << " of " << name << ", "
       << plural(std::ranges::distance(*region), "block");
  } else if (auto *block = dyn_cast_if_present<Block *>(unit)) {
    os << "block "
       << StringRef(printer.label(block)).split('(').first.rtrim(':') << " of "
       << name << ", " << plural(block->getNumArguments(), "argument") << ", "
       << plural(std::ranges::distance(*block), "operation");
  } else if (auto value = dyn_cast_if_present<Value>(unit)) {
    value.print(os, OpPrintingFlags().skipRegions().useLocalScope());
  }
  return text;
}

StringRef kindText(const IRUnit &unit) {
  if (isa_and_present<Region *>(unit))
    return "region";
  if (isa_and_present<Block *>(unit))
    return "block";
  return isa_and_present<Value>(unit) ? "value" : "operation";
}

/// Cuts a long text, but not within a value's key.
static std::string shortened(StringRef text) {
  StringRef kept = text.take_front(4093);
  if (kept.count(PrintedOperation::mark) % 2)
    kept = kept.substr(0, kept.rfind(PrintedOperation::mark));
  return kept + "...";
}

Object describeUnit(const IRUnit &unit) {
  Operation *op = holderOf(unit);
  std::string text;
  if (op) {
    LinePrinter printer(op->getContext(), LineStyle());
    text = textOf(unit, printer);
  }
  if (text.size() > 4096)
    text = shortened(text);
  return Object{{"kind", kindText(unit)},
                {"name", op ? Json(op->getName().getStringRef()) : nullptr},
                {"state", "alive"},
                {"id", idOrNull(idOf(unit))},
                {"text", text},
                {"location", op ? Json(placeText(op->getLoc())) : nullptr}};
}

Array describeUnits(const Frame &frame) {
  Array units;
  for (size_t i = 0; i < frame.units.size(); ++i) {
    const ErasedUnit *erased = frame.erasedUnit(i);
    if (!erased) {
      units.push_back(describeUnit(frame.units[i]));
      continue;
    }
    if (erased->by) {
      Object by = describeUnit(IRUnit(erased->by));
      by["state"] = "replaced";
      units.push_back(std::move(by));
      continue;
    }
    units.push_back(Object{{"kind", kindText(frame.units[i])},
                           {"name", erased->name.getStringRef()},
                           {"state", "erased"},
                           {"id", idOrNull(erased->id)},
                           {"text", nullptr},
                           {"location", placeText(erased->location)}});
  }
  return units;
}

//===----------------------------------------------------------------------===//
// Outcomes and changes as JSON
//===----------------------------------------------------------------------===//

Json idOrNull(uint32_t id) { return id ? Json(int64_t(id)) : nullptr; }

std::string describeFolded(OpFoldResult result, const Observer &observer) {
  std::string text;
  raw_string_ostream os(text);
  if (auto attribute = dyn_cast<Attribute>(result)) {
    attribute.print(os);
    return text.size() > 200 ? text.substr(0, 197) + "..." : text;
  }
  ValueName name = observer.nameOf(cast<Value>(result));
  os << (name.isArgument ? "block argument " : "result ") << name.result
     << " of @" << name.id << " " << name.op;
  return text;
}

static std::optional<std::string> howOf(const Frame &frame) {
  if (frame.found != Found::Nothing)
    return textOf(frame.found).str();
  if (!frame.isConversion())
    return std::nullopt;
  auto count = [](uint32_t number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  return "legalized " + count(frame.legalized, "operation") + ", rolled back " +
         count(frame.rolledBack, "pattern");
}

Json describeOutcome(const Frame &frame) {
  Array reasons, values;
  for (const std::string &reason : frame.rare().reasons)
    reasons.push_back(reason);
  for (const std::string &value : frame.rare().values)
    values.push_back(value);
  return Object{{"result", textOf(frame.result())},
                {"reasons", std::move(reasons)},
                {"how", howOf(frame)},
                {"values", std::move(values)}};
}

static Json describeChange(const Change &change) {
  Object object{{"kind", textOf(change.kind)},
                {"what", change.isBlock ? "block" : "operation"},
                {"op", change.op.getStringRef()},
                {"id", idOrNull(change.id)},
                {"by", nullptr},
                {"location", placeText(change.loc)},
                {"ordinal", int64_t(change.ordinal)},
                {"guess", change.guess}};
  if (change.kind != ChangeKind::Replaced)
    return object;
  Array by;
  for (const ValueName &value : change.by)
    by.push_back(Object{
        {"id", idOrNull(value.id)},
        {"op", value.isArgument ? Json("block argument") : Json(value.op)},
        {"result", int64_t(value.result)}});
  object["by"] = std::move(by);
  return object;
}

Array describeChanges(const Frame &frame, const ChangeLog &log, bool nested,
                      uint64_t most) {
  Array changes;
  if (frame.kind == Kind::None)
    return changes;
  for (uint64_t i = std::max(frame.tally.first, log.begin());
       i < log.end() && changes.size() < most; ++i)
    if (nested || log[i].ordinal == frame.ordinal)
      changes.push_back(describeChange(log[i]));
  return changes;
}

Json describeCulprit(const std::optional<Culprit> &culprit) {
  if (!culprit)
    return nullptr;
  return Object{{"ordinal", int64_t(culprit->ordinal)},
                {"tag", culprit->tag},
                {"name", culprit->name},
                {"guess", culprit->guess}};
}

void addOutcome(Object &stop, const Frame &frame, const ChangeLog &log,
                uint64_t mostChanges) {
  bool isOver = frame.over && frame.kind != Kind::None;
  stop["changes"] =
      isOver ? describeChanges(frame, log, /*nested=*/true, mostChanges)
             : Array();
  stop["changeCount"] = isOver ? int64_t(frame.tally.total()) : 0;
  stop["outcome"] = isOver ? describeOutcome(frame) : Json(nullptr);
}

} // namespace adbg
