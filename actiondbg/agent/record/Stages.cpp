#include "record/Stages.h"
#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "print/InputNames.h"
#include "print/ValueKeys.h"
#include "support/ExitAtOnce.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

namespace {
enum class StageKind : uint32_t { Input, Output, Between };

/// The stages of all threads.
struct Known {
  std::mutex mutex;
  /// The ids of the operations without a parent whose input is recorded, with
  /// the row at which their output is.
  std::unordered_map<uint32_t, uint64_t> roots;
  /// Descriptors of the processes that write stages.
  std::vector<int> writers;
  bool hasFailure = false;
};

/// Writes one stage; lives in a fork of the tool.
class StageWriter {
public:
  StageWriter(Operation *root, StageRow row, unsigned thread, int tool)
      : root(root), row(row), thread(thread), tool(tool) {}
  void write(bool isGeneric);

private:
  void add(Operation *op, unsigned line);
  uint32_t numberOf(Location location);

  Operation *root;
  StageRow row;
  unsigned thread;
  /// A descriptor of the tool's process; negative if there is none.
  int tool;
  std::unordered_map<Location, uint32_t> numbers;
  std::unordered_map<OperationName, uint32_t> names;
  Sections sections;
  Strings strings{sections.strings};
};
} // namespace

static Known &known() { return immortal<Known>(); }

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

uint32_t StageWriter::numberOf(Location location) {
  uint32_t &number = numbers[location];
  if (number)
    return number;
  number = numbers.size();
  uint32_t written = number;
  sections.locations.add(strings.rowOf(location, written, StringRef::npos));
  return written;
}

void StageWriter::add(Operation *op, unsigned line) {
  uint32_t &name = names[op->getName()];
  if (!name)
    name = strings.of(Space::Operation, op->getName().getStringRef());
  Operation *parent = op->getParentOp();
  sections.stageOperations.pack({.near = {.operation = ids.of(op),
                                          .parent = parent ? ids.of(parent) : 0,
                                          .line = line,
                                          .location = numberOf(op->getLoc())},
                                 .far = {.name = name}});
}

void StageWriter::write(bool isGeneric) {
  // A verifier would wait for threads that this fork does not have.
  // Of the output alone constants count, too.
  int64_t most = Recorder::followsLineage() ? fewElements : mostElements;
  OpPrintingFlags flags;
  flags.assumeVerified().elideLargeElementsAttrs(most).elideLargeResourceString(
      4 * most);
  if (isGeneric)
    flags.printGenericOpForm();
  AsmState::LocationMap places;
  std::string text;
  {
    raw_string_ostream os(text);
    AsmState state(root, flags, Recorder::followsLineage() ? &places : nullptr);
    root->print(os, state);
    if (row.kind == uint32_t(StageKind::Input)) {
      InputNames::all().reached(root);
      os << '\0';
      writePrintedNames(root, root, state, os);
    }
  }
  unsigned line = 1;
  if (!Recorder::followsLineage())
    add(root, line); // tells outputs apart
  else
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // Operations that a custom form leaves out stay on the line before.
      if (auto *place = places.find(op))
        line = place->second.first;
      add(op, line);
    });
  row.text = Texts(sections.texts).of(text);
  row.generic = isGeneric;
  sections.stages.add(row);
  ChunkHeader header;
  header.thread = thread;
  struct pollfd ended = {tool, POLLIN, 0};
  if (tool >= 0 && poll(&ended, 1, 0) > 0)
    RecordFile::dropTornChunk();
  RecordFile::write(header, Part(), sections.all);
}

/// Prints in forks of its own, so that IR whose custom form cannot be printed
/// is printed in the generic one. Needs no memory of the tool, whose allocator
/// may be locked for ever in a fork.
[[noreturn]] static void
writeInForks(bool isValid, function_ref<void(bool isGeneric)> write) {
  // LLVM's signal handlers would remove the files that the tool is writing.
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT})
    signal(fatal, SIG_DFL);
  for (bool isGeneric : {!isValid, true}) {
    ForkEnd end = runInFork([&](int fd) {
      write(isGeneric);
      (void)!::write(fd, "", 1);
    });
    // The generic form would wait for the same lock.
    bool isStuck = !end.text;
    if (isStuck || !end.text->empty())
      break;
  }
  exitAtOnce(0);
}

static void write(Operation *root, StageKind kind, const Recorder &recorder) {
  auto [thread, row] = recorder.place();
  StageRow stage{thread, static_cast<uint32_t>(row),
                 static_cast<uint32_t>(kind), 0, 0};
  bool isValid = !known().hasFailure;
  unsigned own = Recorder::newThread();
  // Outputs alone may be of many small modules, for which forks take long.
  if (isValid && !Recorder::followsLineage()) {
    Silence silence;
    StageWriter(root, stage, own, /*tool=*/-1).write(/*isGeneric=*/false);
    return;
  }
  int file = RecordFile::descriptor();
  int tool = syscall(SYS_pidfd_open, getpid(), 0);
  pid_t child = InputNames::all().inFork(
      [] { return BlockKeys::all().inFork(forkQuietly); });
  if (child == 0)
    writeInForks(isValid, [&](bool isGeneric) {
      RecordFile::resume(file);
      StageWriter(root, stage, own, tool).write(isGeneric);
    });
  if (tool >= 0)
    close(tool);
  if (child < 0)
    return;
  int descriptor = syscall(SYS_pidfd_open, child, 0);
  if (descriptor >= 0)
    known().writers.push_back(descriptor);
}

//===----------------------------------------------------------------------===//
// The stages of a run
//===----------------------------------------------------------------------===//

/// Records the input, unless it is recorded or only the output is wanted.
static void writeInput(Operation *op, const Recorder &recorder) {
  uint32_t id = ids.of(op);
  if (id && known().roots.try_emplace(id, 0).second &&
      Recorder::followsLineage())
    write(op, StageKind::Input, recorder);
}

void Stages::begin() {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(known().mutex);
  known().roots.clear();
  known().hasFailure = false;
}

void Stages::reached(Operation *op, const Recorder &recorder) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(known().mutex);
  writeInput(rootOf(op), recorder);
}

/// Records the output, unless no action has begun since it was recorded.
static void writeOutput(uint64_t &writtenAt, Operation *op,
                        const Recorder &recorder) {
  uint64_t row = recorder.place().second;
  if (std::exchange(writtenAt, row) != row)
    write(op, StageKind::Output, recorder);
}

void Stages::settled(Operation *op, const Recorder &recorder) {
  std::lock_guard<std::mutex> lock(known().mutex);
  auto root = known().roots.find(ids.of(op));
  if (root != known().roots.end())
    writeOutput(root->second, op, recorder);
}

bool Stages::ending(Operation *op, const Recorder &recorder) {
  std::lock_guard<std::mutex> lock(known().mutex);
  auto root = known().roots.find(ids.of(op));
  if (root == known().roots.end())
    return false;
  writeOutput(root->second, op, recorder);
  known().roots.erase(root);
  return true;
}

void Stages::between(Operation *op, const Recorder &recorder) {
  std::lock_guard<std::mutex> lock(known().mutex);
  writeInput(op, recorder); // before its first action
  write(op, StageKind::Between, recorder);
}

void Stages::failed() {
  if (!Recorder::keepsOutput())
    return;
  std::lock_guard<std::mutex> lock(known().mutex);
  known().hasFailure = true;
}

void Stages::finish() {
  std::vector<int> &writers = known().writers;
  for (int writer : writers) {
    struct pollfd ended = {writer, POLLIN, 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    close(writer);
  }
  writers.clear();
}

} // namespace adbg
