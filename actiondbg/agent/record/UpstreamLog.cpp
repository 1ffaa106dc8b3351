//===- UpstreamLog.cpp - The log of --log-actions-to ----------------------===//
//
// Upstream verifies and numbers the whole function for each operation that it
// prints. Here the numbering is kept from one pattern to the next in a greedy
// iteration as long as nothing changes: the greedy driver reports each of its
// changes, and a pattern that fails must leave the IR unchanged. Everywhere
// else this prints as upstream does.
//
//===----------------------------------------------------------------------===//

#include "record/UpstreamLog.h"
#include "engine/Describe.h"
#include "interpose/Interpose.h"
#include "record/RecordFile.h"
#include "support/AgentHeap.h"
#include "support/OwnFiles.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

bool UpstreamLog::start(const char *path) {
  int opened = openFar(path, O_CREAT | O_TRUNC);
  if (opened < 0) {
    llvm::errs() << "actiondbg: cannot write the log to '" << path << "' ("
                 << strerror(errno) << "): name another file\n";
    return false;
  }
  fd = opened;
  return true;
}

void UpstreamLog::write(StringRef line) {
  while (fd >= 0 && !line.empty()) {
    FileLimit limit;
    ssize_t written = ::write(fd, line.data(), line.size());
    if (written >= 0) {
      line = line.drop_front(written);
    } else if (errno != EINTR) {
      // Such as on a full disk. A last line without its end shows that the log
      // is cut.
      struct stat file;
      [[maybe_unused]] bool isCut = fstat(fd, &file) == 0 && file.st_size &&
                                    ftruncate(fd, file.st_size - 1) == 0;
      fd = -1;
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// The names of the values in an operation, and whether it can be printed in
/// its custom form.
struct Numbering {
  Operation *scope = nullptr;
  uint64_t generation = 0;
  std::unique_ptr<AsmState> state;
};
} // namespace

/// Prints in the form that upstream would choose, without running verifiers
/// that would crash.
static OpPrintingFlags logFlags(Operation *scope) {
  OpPrintingFlags flags = OpPrintingFlags().skipRegions().useLocalScope();
  if (nullOperandIn(scope))
    flags.printGenericOpForm();
  return flags;
}

static void printUnit(const IRUnit &unit, raw_ostream &os) {
  Operation *holder = holderOf(unit);
  OpPrintingFlags flags =
      holder ? logFlags(scopeOf(holder)) : OpPrintingFlags();
  // Upstream prints no values here, although the type allows them.
  if (auto value = dyn_cast_if_present<Value>(unit))
    value.print(os, flags);
  else
    unit.print(os, flags);
}

/// Prints an operation with the previous numbering, if `generation` shows that
/// nothing was changed since.
static void printNumbered(Operation *op, uint64_t generation,
                          llvm::raw_string_ostream &os) {
  static thread_local Numbering kept;
  Operation *scope = scopeOf(op);
  if (!kept.state || kept.scope != scope || kept.generation != generation)
    kept = {scope, generation,
            std::make_unique<AsmState>(scope, logFlags(scope))};
  size_t start = os.str().size();
  op->print(os, *kept.state);
  // Distinct attributes are numbered in printing order, and an operation that
  // is its own scope may rename the values in it.
  if (scope == op ||
      StringRef(os.str()).drop_front(start).contains("distinct["))
    kept.state.reset();
}

/// Whether the numbering may be kept for the next action.
static bool isInGreedyIteration(const Frame &frame) {
  return frame.kind == Kind::Pattern && frame.parent &&
         frame.parent->isGreedyIteration();
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static void printThread(raw_ostream &os) {
  char name[64] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  os << "[thread ";
  if (*name)
    os << name;
  else
    os << syscall(SYS_gettid);
  os << "] ";
}

void UpstreamLog::Entry::begin() {
  bool isNumbered = isInGreedyIteration(frame);
  if (!isNumbered)
    changed();
  std::string line;
  {
    AgentHeap agentHeap; // what the tool prints into it is the tool's own
    line.reserve(512);
  }
  llvm::raw_string_ostream os(line);
  printThread(os);
  os << "begins (no breakpoint) Action ";
  frame.action->print(os);
  os << " (";
  llvm::interleaveComma(frame.units, os, [&](const IRUnit &unit) {
    auto *op = dyn_cast_if_present<Operation *>(unit);
    if (op && isNumbered)
      printNumbered(op, generation, os);
    else
      printUnit(unit, os);
  });
  os << ")`\n";
  write(line);
}

void UpstreamLog::Entry::end() {
  // Anything but a failed pattern may have changed IR without a notification.
  if (frame.kind != Kind::Pattern || frame.returned != Returned::Unknown)
    changed();
  AgentHeap agentHeap;
  std::string line;
  llvm::raw_string_ostream os(line);
  printThread(os);
  os << "completed `" << frame.tag() << "`\n";
  write(line);
}

} // namespace adbg
