//===- Print.cpp - The request that prints IR -----------------------------===//
//
// IR may be a hundred megabytes: it is passed in a file instead of a message,
// so that neither side has to hold it in memory.
//
//===----------------------------------------------------------------------===//

#include "requests/Print.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/IRPath.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using llvm::StringRef;
using llvm::json::Object;
using Json = llvm::json::Value;

namespace adbg {

bool hasNullOperands(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        for (mlir::Value operand : inner->getOperands())
          if (!operand)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

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

static Operation *rootToPrint(Engine &engine, const PrintArguments &arguments) {
  StringRef what = arguments.what;
  if (what == "operation")
    return engine.observer.ids.find(arguments.id);
  Operation *op = holderOf(engine.stops.cursor);
  if (what == "function") {
    Operation *function = functionAround(op);
    return function ? function : rootOf(op);
  }
  if (what == "module")
    return rootOf(op);
  if (what == "action")
    return engine.stops.selected->op();
  return op;
}

/// Adds the range of lines that the cursor's operation takes up.
static void addMark(Object &result, Engine &engine,
                    const AsmState::LocationMap &lines) {
  auto *op = llvm::dyn_cast_if_present<Operation *>(engine.stops.cursor);
  auto first = op ? lines.find(op) : lines.end();
  if (first == lines.end())
    return;
  int64_t line = first->second.first;
  int64_t last = line;
  Operation *next = op->getBlock() ? op->getNextNode() : nullptr;
  if (op->getNumRegions() && next)
    if (auto after = lines.find(next); after != lines.end())
      last = std::max<int64_t>(line, int64_t(after->second.first) - 1);
  result["markFirst"] = line;
  result["markLast"] = last;
}

static void printUnit(const IRUnit &unit, Operation *root, AsmState &state,
                      llvm::raw_ostream &os) {
  auto *block = llvm::dyn_cast_if_present<Block *>(unit);
  if (auto *region = llvm::dyn_cast_if_present<Region *>(unit)) {
    for (Block &inner : *region)
      inner.print(os, state);
  } else if (block) {
    block->print(os, state);
  } else {
    root->print(os, state);
    os << "\n";
  }
}

static StringRef withoutNumber(StringRef name) { return name.split('#').first; }

/// Writes the names and keys of the values in `root`, one a line: a value keeps
/// its key for its life.
static void writeNames(const Identities &ids, Operation *root, AsmState &state,
                       const std::string &path) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error, llvm::sys::fs::OF_None);
  if (error)
    return;
  auto nameOf = [&](Value value) {
    std::string name;
    llvm::raw_string_ostream named(name);
    value.printAsOperand(named, state);
    return withoutNumber(name).str();
  };
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::string last;
    for (OpResult result : op->getResults()) {
      std::string name = nameOf(result);
      // The results of a group share one name and are numbered.
      if (name != last)
        os << name << " " << ids.of(op) << "." << result.getResultNumber()
           << "\n";
      last = name;
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          os << nameOf(argument) << " b" << argument.getAsOpaquePointer()
             << "\n";
  });
  os.flush();
  os.clear_error();
}

static Answer<Object> printTo(Engine &engine, const PrintArguments &arguments,
                              Operation *root, llvm::raw_fd_ostream &os) {
  bool generic = false;
  OpPrintingFlags flags = flagsOf(arguments, root, generic);
  AsmState::LocationMap lines;
  // A single operation is numbered as in its function, so that its names match
  // every other print.
  Operation *numbered = root;
  if (arguments.what == "cursor" || arguments.what == "action")
    if (Operation *function = functionAround(root))
      numbered = function;
  AsmState state(numbered, flags, arguments.mark ? &lines : nullptr);
  // AsmState selects the generic form for IR that does not verify.
  generic |= !arguments.generic &&
             state.getPrinterFlags().shouldPrintGenericOpForm() &&
             !flags.shouldPrintGenericOpForm();
  IRUnit unit = arguments.what == "cursor" ? engine.stops.cursor : IRUnit(root);
  printUnit(unit, root, state, os);
  os.flush();
  if (!arguments.names.empty())
    writeNames(engine.observer.ids, root, state, arguments.names);
  if (os.has_error()) {
    std::string message = os.error().message();
    os.clear_error();
    return RequestError(FileNotWritten,
                        "cannot write " + arguments.path + ": " + message);
  }
  Object result{{"bytes", int64_t(os.tell())},
                {"markFirst", nullptr},
                {"markLast", nullptr},
                {"generic", generic},
                {"path", pathTo(engine.stops.cursor, root)}};
  if (arguments.mark)
    addMark(result, engine, lines);
  return result;
}

/// Sends the answer of the forked child to its parent.
static void sendToParent(int fd, Answer<Object> answer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto *error = std::get_if<RequestError>(&answer))
    os << Json(Object{{"code", error->code},
                      {"message", llvm::json::fixUTF8(error->message)}});
  else
    os << Json(Object{{"result", std::move(std::get<Object>(answer))}});
  llvm::raw_fd_ostream(fd, /*shouldClose=*/true) << text;
}

static Answer<Object> receiveFromChild(int fd, pid_t child) {
  std::string text;
  char chunk[4096];
  ssize_t size;
  while ((size = read(fd, chunk, sizeof(chunk))) > 0 ||
         (size < 0 && errno == EINTR))
    if (size > 0)
      text.append(chunk, size);
  close(fd);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  llvm::Expected<Json> parsed = llvm::json::parse(text);
  Object *answer = parsed ? parsed->getAsObject() : nullptr;
  if (!answer) {
    llvm::consumeError(parsed.takeError());
    return RequestError(UnitErased,
                        "this IR cannot be printed at this stop: it is "
                        "incomplete, and printing it crashes; print less, or "
                        "use --generic");
  }
  if (int64_t code = answer->getInteger("code").value_or(0))
    return RequestError(code, *answer->getString("message"));
  return std::move(*answer->getObject("result"));
}

/// Prints in a fork of the tool: numbering the values of a large module takes
/// more memory than its text, and the fork frees it at once; a print that
/// crashes or hangs does not affect the tool.
static Answer<Object> printInFork(Engine &engine,
                                  const PrintArguments &arguments,
                                  Operation *root, llvm::raw_fd_ostream &os) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return printTo(engine, arguments, root, os);
  pid_t child = fork();
  if (child == 0) {
    // LLVM's signal handlers would remove the files that the tool is writing.
    for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM})
      signal(fatal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sendToParent(ends[1], printTo(engine, arguments, root, os));
    _exit(0);
  }
  close(ends[1]);
  if (child > 0)
    return receiveFromChild(ends[0], child);
  close(ends[0]);
  return printTo(engine, arguments, root, os);
}

PrintArguments::PrintArguments(Fields &fields)
    : what(fields.text("what")), path(fields.text("path")),
      names(fields.textOr("names", "")), id(fields.integerOr("id", 1, 0)),
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

Answer<Object> Print::run(PrintArguments &arguments) {
  bool needsCursor = arguments.what != "operation";
  if (!engine.stops.selected || (needsCursor && !engine.stops.cursor))
    return RequestError(engine.stops.selected ? UnitErased : NotStopped,
                        "there is no IR unit to print at this stop");
  Operation *root = rootToPrint(engine, arguments);
  if (!root)
    return RequestError(UnitErased,
                        "the action's IR unit is erased; print cursor, "
                        "function or module instead");
  std::error_code error;
  llvm::raw_fd_ostream os(arguments.path, error, llvm::sys::fs::OF_None);
  if (error)
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + error.message());
  // In the middle of a rewrite IR may be incomplete. The form printed at each
  // step is printed here: one operation, without its regions.
  if (engine.stops.inside || !arguments.skipRegions)
    return printInFork(engine, arguments, root, os);
  return printTo(engine, arguments, root, os);
}

} // namespace adbg
