//===- Print.cpp - The request that prints IR -----------------------------===//
//
// IR may be a hundred megabytes: it is passed in a file instead of a message,
// so that neither side has to hold it in memory.
//
//===----------------------------------------------------------------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/ValueKeys.h"
#include "requests/IRSearch.h"
#include "requests/Request.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"

namespace adbg {

bool hasNullOperands(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!operand)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

struct PrintArguments {
  std::string what, path, names, order;
  int64_t id;
  bool generic, locations, skipRegions, mark;
  int64_t elide;
  explicit PrintArguments(Fields &fields);
};

static OpPrintingFlags flagsOf(const PrintArguments &arguments, Operation *root,
                               bool &generic) {
  OpPrintingFlags flags;
  if (arguments.locations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  if (arguments.skipRegions)
    flags.skipRegions();
  if (arguments.elide >= 0)
    flags.elideLargeElementsAttrs(arguments.elide);
  if (hasNullOperands(root)) {
    // The search for aliases would dereference the types of null operands.
    flags.assumeVerified().useLocalScope();
    generic = true;
  }
  if (arguments.generic || generic)
    flags.printGenericOpForm();
  return flags;
}

/// Returns the module that contains an operation. For an operation of a running
/// schedule, returns the module that the schedule changes: the schedule may be
/// in a library.
static Operation *moduleOf(const Engine &engine, Operation *op) {
  Operation *root = rootOf(op);
  for (Frame *frame = engine.innermost; frame; frame = frame->parent)
    if (frame->kind == Kind::Step && rootOf(frame->op()) == root)
      if (Operation *payload = frame->payload())
        return rootOf(payload);
  return root;
}

static Operation *rootToPrint(Engine &engine, const PrintArguments &arguments) {
  StringRef what = arguments.what;
  if (what == "operation")
    return ids.find(arguments.id);
  Operation *op = holderOf(engine.stops.cursor);
  if (what == "function") {
    Operation *function = functionAround(op);
    return function ? function : rootOf(op);
  }
  if (what == "module")
    return moduleOf(engine, op);
  if (what == "action")
    return engine.stops.selected ? engine.stops.selected->op() : op;
  return op;
}

/// Adds the range of lines that the cursor's operation takes up.
static void addMark(Object &result, Engine &engine,
                    const AsmState::LocationMap &lines) {
  auto *op = dyn_cast_if_present<Operation *>(engine.stops.cursor);
  auto *first = op ? lines.find(op) : nullptr;
  if (!first)
    return;
  int64_t line = first->second.first;
  int64_t last = line;
  Operation *next = op->getBlock() ? op->getNextNode() : nullptr;
  if (op->getNumRegions() && next)
    if (auto *after = lines.find(next))
      last = std::max<int64_t>(line, int64_t(after->second.first) - 1);
  result["markFirst"] = line;
  result["markLast"] = last;
}

static void printUnit(const IRUnit &unit, Operation *root, AsmState &state,
                      raw_ostream &os) {
  auto *block = dyn_cast_if_present<Block *>(unit);
  if (auto *region = dyn_cast_if_present<Region *>(unit)) {
    for (Block &inner : *region)
      inner.print(os, state);
  } else if (block) {
    block->print(os, state);
  } else {
    root->print(os, state);
    os << "\n";
  }
}

static void writeNamesTo(const std::string &path, Operation *root,
                         Operation *numbered, AsmState &state) {
  if (!isSmall(numbered, mostListed))
    return;
  std::error_code error;
  raw_fd_ostream os(path, error, llvm::sys::fs::OF_None);
  if (error)
    return;
  writePrintedNames(root, numbered, state, os);
  os.flush();
  os.clear_error();
}

/// Identifies the operations in `root` and their order, on which the printer's
/// names depend.
static std::string orderOf(Operation *root) {
  uint64_t hash = 0xcbf29ce484222325;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = (hash ^ ids.of(op)) * 0x100000001b3;
    hash = (hash ^ op->getNumRegions()) * 0x100000001b3;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        hash = (hash ^ block.getNumArguments()) * 0x100000001b3;
  });
  return llvm::utohexstr(hash);
}

static Operation *numberedFor(const PrintArguments &arguments,
                              Operation *root) {
  // A single operation is numbered as in its function, so that its names match
  // every other print.
  if (arguments.what == "cursor" || arguments.what == "action")
    if (Operation *function = functionAround(root))
      return function;
  return root;
}

/// Gives keys to the blocks whose arguments are listed; in a fork they would be
/// lost.
static void keepKeys(const PrintArguments &arguments, Operation *root) {
  Operation *numbered = numberedFor(arguments, root);
  if (isSmall(numbered, mostListed))
    BlockKeys::all().keep(numbered);
}

static Answer<Object> printTo(Engine &engine, const PrintArguments &arguments,
                              Operation *root, raw_fd_ostream &os) {
  bool generic = false;
  OpPrintingFlags flags = flagsOf(arguments, root, generic);
  AsmState::LocationMap lines;
  Operation *numbered = numberedFor(arguments, root);
  AsmState state(numbered, flags, arguments.mark ? &lines : nullptr);
  // AsmState selects the generic form for IR that does not verify.
  generic |= !arguments.generic &&
             state.getPrinterFlags().shouldPrintGenericOpForm() &&
             !flags.shouldPrintGenericOpForm();
  IRUnit unit = arguments.what == "cursor" ? engine.stops.cursor : IRUnit(root);
  printUnit(unit, root, state, os);
  os.flush();
  std::string order;
  if (!arguments.names.empty())
    order = orderOf(numbered) +
            // The generic form has no suggested names.
            (state.getPrinterFlags().shouldPrintGenericOpForm() ? "g" : "");
  if (order != arguments.order)
    writeNamesTo(arguments.names, root, numbered, state);
  if (os.has_error()) {
    std::error_code error = os.error();
    os.clear_error();
    return notWritten(arguments.path, error);
  }
  Object result{{"bytes", int64_t(os.tell())},
                {"markFirst", nullptr},
                {"markLast", nullptr},
                {"generic", generic},
                {"order", order},
                {"path", pathTo(engine.stops.cursor, root)}};
  if (arguments.mark)
    addMark(result, engine, lines);
  return result;
}

PrintArguments::PrintArguments(Fields &fields)
    : what(fields.text("what")), path(fields.text("path")),
      names(fields.textOr("names", "")), order(fields.textOr("order", "")),
      id(fields.integerOr("id", 1, 0)),
      generic(fields.boolean("generic", false)),
      locations(fields.boolean("locations", false)),
      skipRegions(fields.boolean("skipRegions", false)),
      mark(fields.boolean("mark", false)),
      elide(fields.integerOr("elide", 0, -1)) {
  static constexpr StringRef whats[] = {"cursor", "action", "function",
                                        "module", "operation"};
  if (!llvm::is_contained(whats, what))
    fields.fail("there is no IR '" + what + "' to print");
}

/// print: prints IR into a file.
static Answer<Object> printIR(Engine &engine, PrintArguments &arguments) {
  bool needsCursor = arguments.what != "operation";
  if (!engine.stops.selected && !engine.stops.cursor)
    return noIR(engine);
  if (needsCursor && !engine.stops.cursor)
    return RequestError(UnitErased,
                        "there is no IR unit to print at this stop");
  Operation *root = rootToPrint(engine, arguments);
  if (!root)
    return RequestError(UnitErased,
                        "the action's IR unit is erased; print cursor, "
                        "function or module instead");
  std::error_code error;
  raw_fd_ostream os(arguments.path, error, llvm::sys::fs::OF_None);
  if (error)
    return notWritten(arguments.path, error);
  // Numbering the values of a large module takes more memory than its text; and
  // in the middle of a rewrite IR may be incomplete. A single operation,
  // without its regions, is printed here.
  if (!arguments.names.empty())
    keepKeys(arguments, root);
  if (engine.stops.inside || !arguments.skipRegions)
    return answerInFork([&] { return printTo(engine, arguments, root, os); });
  return printTo(engine, arguments, root, os);
}
ADBG_REQUEST("print", printIR, readsIR)

} // namespace adbg
