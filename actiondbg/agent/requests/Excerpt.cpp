//===- Excerpt.cpp - Requests about a few lines of IR ---------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/IRLines.h"
#include "print/InputNames.h"
#include "requests/Request.h"

namespace adbg {

struct ExcerptArguments {
  int64_t id, part, before, after, elide;
  bool definitions;
  explicit ExcerptArguments(Fields &fields)
      : id(fields.integerOr("id", 1, 0)), part(fields.integerOr("part", 0, 0)),
        before(fields.integerOr("before", 0, 5)),
        after(fields.integerOr("after", 0, 5)),
        elide(fields.integerOr("elide", 0, 16)),
        definitions(fields.boolean("definitions", false)) {}
};

/// Describes the operations that define the operands of the current one, but
/// for those that are among the lines.
static Array definitionsOf(IRLines &lines, const LinePlace &current,
                           const std::deque<LinePlace> &shown) {
  Array all;
  if (!current.op)
    return all;
  std::unordered_set<Operation *> described;
  for (Value operand : current.op->getOperands()) {
    Operation *op = operand ? operand.getDefiningOp() : nullptr;
    if (!op || !described.insert(op).second ||
        llvm::is_contained(shown, LinePlace{op, 0, nullptr}))
      continue;
    all.push_back(lines.describe({op, 0, nullptr}));
  }
  return all;
}

static Answer<Object> describeExcerpt(const ExcerptArguments &arguments,
                                      const IRUnit &unit) {
  Operation *holder = holderOf(unit);
  LineStyle style;
  style.elide = arguments.elide;
  IRLines lines(holder->getContext(), style);
  LinePlace current = lines.placeOf(unit);
  if (current.op && arguments.part < int64_t(lines.partsOf(current.op)))
    current.part = arguments.part;
  std::deque<LinePlace> shown{current};
  LinePlace first = lines.previous(current), last = lines.next(current);
  for (int64_t i = 0; i < arguments.before && first; ++i) {
    shown.push_front(first);
    first = lines.previous(first);
  }
  int64_t at = shown.size() - 1;
  for (int64_t i = 0; i < arguments.after && last; ++i) {
    shown.push_back(last);
    last = lines.next(last);
  }
  Array described;
  for (const LinePlace &place : shown)
    described.push_back(lines.describe(place));
  Operation *function = functionAround(holder);
  return Object{{"lines", std::move(described)},
                {"current", at},
                {"moreBefore", bool(first)},
                {"moreAfter", bool(last)},
                {"scope", idOrNull(ids.of(scopeOf(holder)))},
                {"function", function ? Json(symbolName(function)) : nullptr},
                {"definitions", arguments.definitions
                                    ? definitionsOf(lines, current, shown)
                                    : Array()}};
}

/// excerpt: the lines around the cursor or an operation. The time that it takes
/// depends on their number, not on the size of the function.
static Answer<Object> getExcerpt(Engine &engine, ExcerptArguments &arguments) {
  if (!engine.stops.selected && !engine.stops.cursor)
    return noIR(engine);
  IRUnit unit = engine.stops.cursor;
  if (arguments.id) {
    Operation *op = ids.find(arguments.id);
    unit = op ? IRUnit(op) : IRUnit();
    if (!unit)
      return RequestError(NoSuchUnit, "there is no operation @" +
                                          std::to_string(arguments.id) +
                                          " now");
  }
  if (!unit)
    return RequestError(UnitErased, "there is no IR unit at this stop");
  return answerInFork([&] { return describeExcerpt(arguments, unit); });
}
ADBG_REQUEST("excerpt", getExcerpt, readsIR)

struct ValueNamesArguments {
  int64_t id, most;
  std::string path;
  explicit ValueNamesArguments(Fields &fields)
      : id(fields.integer("id", 1)), most(fields.integerOr("most", 1, 100000)),
        path(fields.text("path")) {}
};

/// values: writes the names that MLIR's printer gives to the values in an
/// operation, with their keys, into a file.
static Answer<Object> writeValueNames(Engine &,
                                      ValueNamesArguments &arguments) {
  Operation *scope = ids.find(arguments.id);
  if (!scope)
    return RequestError(NoSuchUnit, "there is no operation @" +
                                        std::to_string(arguments.id) + " now");
  if (!isSmall(scope, arguments.most))
    return Object{{"written", false}};
  BlockKeys::all().keep(scope);
  return answerInFork([&]() -> Answer<Object> {
    std::error_code error;
    raw_fd_ostream os(arguments.path, error, llvm::sys::fs::OF_None);
    if (error)
      return notWritten(arguments.path, error);
    AsmState state(scope, OpPrintingFlags().useLocalScope().assumeVerified());
    writeNames(scope, state, os);
    return Object{{"written", true}};
  });
}
ADBG_REQUEST("values", writeValueNames, readsIR)

struct FindNamedArguments {
  std::string name;
  explicit FindNamedArguments(Fields &fields) : name(fields.text("name")) {}
};

/// values/named: the values that the input names so, dead or alive, and the
/// scope of the cursor.
static Answer<Object> findNamed(Engine &engine, FindNamedArguments &arguments) {
  static constexpr size_t most = 1000;
  Array values;
  InputNames::all().withName(arguments.name, [&](const auto &one) {
    if (values.size() < most)
      values.push_back(Object{{"key", one.key},
                              {"scope", idOrNull(one.scope)},
                              {"id", idOrNull(one.id)}});
  });
  Operation *op = holderOf(engine.stops.cursor);
  uint32_t scope = op ? ids.of(scopeOf(op)) : 0;
  return Object{{"scope", idOrNull(scope)}, {"values", std::move(values)}};
}
ADBG_REQUEST("values/named", findNamed, readsIR)

} // namespace adbg
