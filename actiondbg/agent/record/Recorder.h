//===- Recorder.h - Writing down the actions of one thread ------*- C++ -*-===//

#ifndef ACTIONDBG_RECORDER_H
#define ACTIONDBG_RECORDER_H

#include "mlir/IR/PatternMatch.h"
#include "observe/Observer.h"
#include "record/Counters.h"
#include "record/RecordedIR.h"
#include "record/Remembered.h"
#include <csignal>
#include <ctime>

namespace adbg {

/// What is to be recorded beside the actions.
enum class RecordedIR : uint8_t { None, Changed, Function };

/// What is asked for.
struct RecordOrder {
  /// Files; empty for none.
  std::string path, upstreamLog;
  std::string ir, events;
};

/// A change as it happens.
struct Changed {
  ChangeKind kind;
  mlir::Operation *op;
  uint32_t id;
  /// The action that does it.
  uint64_t ordinal;
  const Detail &detail;
  /// It ends, and has its number no more; and whether it was described.
  bool isGone = false, wasDescribed = false;

  bool isBlock() const { return detail.isBlock; }
};

/// Writes down the actions of one thread. Called at each action, so it has to
/// be fast; its memory is bounded.
class Recorder {
public:
  /// Begins the recording of this process, before there are threads; returns
  /// whether that was possible.
  static bool start(const RecordOrder &order, bool isThreaded);
  static bool isOn() { return RecordFile::isOpen(); }
  /// All that is known is written, and the end. The tool exits.
  static void finish(int status);

  Recorder(Identities &ids, OperationNames &names);
  ~Recorder();

  /// This process crashes, by a signal: all that all threads know is written,
  /// and the end. In the handler of the signal; another thread's crash at the
  /// same time waits there for the end of the process.
  static void crash();

  /// `kind` and `op` are the frame's: what it is, and is about, if anything.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void
  begin(Frame &frame, Kind kind, mlir::Operation *op, NameFacts *folded) {
    Busy busy(*this);
    if (LLVM_UNLIKELY(kind == Kind::Pass))
      forgetPlaces();
    if (LLVM_UNLIKELY(isFull()))
      flush();
    if (LLVM_UNLIKELY(ir != nullptr))
      ir->begin(frame);
    ActionRow &row = rows[count];
    // First, while `folded` is valid.
    row.name =
        kind == Kind::Fold ? nameOfFold(frame, *folded) : nameOf(frame, kind);
    row.operation = LLVM_LIKELY(op) ? describe(op) : 0;
    row.duration = 0;
    row.depth = std::min(frame.depth, 0xffffu);
    row.outcome = row.flags = 0;
    if (LLVM_UNLIKELY(Counters::size()))
      beginSample();
    // Last, so that what is done here is not counted as the action's.
    frame.began = newest = Observer::now();
    if (LLVM_UNLIKELY(count++ == 0))
      beginChunk();
    row.start = uint64_t(newest - base) / RecordFile::unit;
  }
  /// `now`: when it was over, in ticks.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void end(const Frame &frame, int64_t now) {
    Busy busy(*this);
    if (LLVM_UNLIKELY(Counters::size()))
      endSample(frame);
    if (LLVM_UNLIKELY(ir != nullptr))
      ir->end(frame);
    newest = now;
    uint64_t duration = uint64_t(now - frame.began) / RecordFile::unit;
    // Of one that is in a chunk before, it is beyond all.
    uint64_t row = frame.ordinal - 1 - firstRow;
    bool changed = frame.changed();
    auto outcome = static_cast<uint8_t>(1 + int(frame.result(changed)));
    uint8_t flags = changed;
    if (LLVM_UNLIKELY(frame.returned >= Returned::Success))
      flags |= (frame.returned == Returned::RolledBack) << 1 | int(frame.found)
                                                                   << 4;
    if (LLVM_UNLIKELY(row >= count || duration > UINT32_MAX))
      return patch({static_cast<uint32_t>(frame.ordinal - 1), outcome, flags, 0,
                    duration});
    rows[row].duration = duration;
    rows[row].outcome = outcome;
    rows[row].flags = flags;
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE void reason(const Frame &frame,
                                           llvm::StringRef text) {
    Busy busy(*this);
    text = text.take_front(4096);
    uint32_t number =
        reasonNumbers.get(text, [&] { return of(Space::Reason, text); });
    reasons.add(ReasonRow{static_cast<uint32_t>(frame.ordinal - 1), number});
  }
  // In its one caller, so that what it is told of stays in registers.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void change(const Changed &change) {
    Busy busy(*this);
    if (!change.isGone)
      describe(change.op);
    else if (LLVM_UNLIKELY(!change.wasDescribed))
      describeAs(change.op, change.id);
    uint64_t code = uint64_t(change.kind) | uint64_t(change.isBlock()) << 3 |
                    uint64_t(change.detail.isGuess) << 4;
    uint64_t by = 0, result = 0;
    if (LLVM_UNLIKELY(!change.detail.by.empty())) {
      const ValueName &value = change.detail.by.front();
      if (value.id && !value.isArgument) {
        by = 1 + PackedSection::zigzag(int64_t(value.id) - change.id);
        result = value.result;
      }
    }
    if (LLVM_UNLIKELY(ir != nullptr))
      ir->change(Changed(change)); // a copy, or it would stand in memory
    changes.pack({int64_t(change.ordinal - 1), int64_t(change.id)},
                 {code, by, result});
  }
  /// What was in which function may be in another one now.
  void forgetPlaces() { ++places; }
  /// The newest change was none.
  void dropLastChange();

private:
  static constexpr size_t most = 8192;
  static constexpr size_t mostBytes = 1 << 20;
  /// So much is lost if the tool is killed, in nanoseconds.
  static constexpr int64_t longestWait = 333000000;

  void flush();
  /// Whether something waits to be written.
  bool isPending() const;
  void beginChunk();
  /// Notes the end of an action that is written already.
  void patch(PatchRow row);

  /// Whether what waits has to be written before the next action: it is much,
  /// or old.
  LLVM_ATTRIBUTE_ALWAYS_INLINE bool isFull() const {
    // Should nobody have woken the thread; in ticks, which fit into a row.
    constexpr int64_t longest = int64_t(1) << 30;
    return (LLVM_UNLIKELY(count % 64 == 0) && (count == most || isMuch())) ||
           (newest - base > longest && count);
  }
  bool isMuch() const;
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t nameOf(const Frame &frame, Kind kind) {
    if (LLVM_LIKELY(kind == Kind::Pattern))
      if (llvm::StringRef name = frame.pattern()->getDebugName();
          LLVM_LIKELY(!name.empty()))
        return patternNames.get(name, [&] { return textOfName(frame); });
    return nameOfOther(frame);
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t nameOfFold(const Frame &frame,
                                                   NameFacts &folded) {
    if (LLVM_UNLIKELY(!folded.foldNumber))
      folded.foldNumber = textOfName(frame);
    return folded.foldNumber;
  }
  uint32_t nameOfOther(const Frame &frame);
  uint32_t nameOfUnnamed(const Frame &frame);
  uint32_t nameOfText(const Frame &frame);
  uint32_t textOfName(const Frame &frame);
  /// Returns the number of an operation, which is written down if it was not.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t describe(mlir::Operation *op) {
    uint32_t id = ids.ofDescribed(op);
    return LLVM_LIKELY(id) ? id : describeNew(op);
  }
  uint32_t describeNew(mlir::Operation *op);
  /// Returns the function that it is in; 0 if it is in none.
  uint32_t describeAs(mlir::Operation *op, uint32_t id);
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t locationOf(mlir::Location location) {
    const void *key = location.getAsOpaquePointer();
    uint32_t number = locationNumbers.find(key);
    if (LLVM_UNLIKELY(!number))
      locationNumbers.set(key, number = writeLocation(location));
    return number;
  }
  uint32_t writeLocation(mlir::Location location);
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t functionOf(mlir::Operation *op) {
    mlir::Block *block = op->getBlock();
    // One that has regions may be a function itself.
    if (LLVM_UNLIKELY(!block || mayBeFunction(op)))
      return findFunction(op);
    KnownBlock &known =
        knownBlocks[(uintptr_t(block) >> 6) % std::size(knownBlocks)];
    if (known.block != block || known.places != places)
      known = {block, places, findFunction(op)};
    return known.function;
  }
  uint32_t findFunction(mlir::Operation *op);
  uint32_t numberOfSymbol(mlir::Operation *holder);
  uint32_t of(Space space, llvm::StringRef text) {
    return dictionaries[static_cast<unsigned>(space)].of(text, strings);
  }
  void beginSample();
  void endSample(const Frame &frame);
  void enlist();
  void delist();

  // Flush.cpp: writing what a thread does not come to write.
  static void flushEverywhere();
  /// In the handler of a signal, which may have come at any moment.
  void flushNow() {
    if (isBusy)
      return;
    Busy busy(*this);
    flush();
  }
  void wakeIn(int64_t nanoseconds);
  static void onWake(int number);
  static void listenToWakes();
  static void writeEnd(const char *text);
  static void listenToEnds();
  static void onEnd(int number, siginfo_t *info, void *context);

  static RecordedIR wantedIR;

  /// What is written down is not whole while one lives.
  struct Busy {
    explicit Busy(Recorder &recorder) : isBusy(recorder.isBusy) {
      isBusy = true;
    }
    ~Busy() { isBusy = false; }
    volatile bool &isBusy;
  };

  Identities &ids;
  OperationNames &names;
  volatile bool isBusy = false;
  unsigned thread = 0;
  /// What the system knows the thread by, and what wakes it.
  pid_t id = 0;
  timer_t timer = {};
  bool hasTimer = false;
  volatile unsigned flushes = 0;
  std::unique_ptr<ActionRow[]> rows{new ActionRow[most]};
  size_t count = 0;
  uint64_t firstRow = 0;
  /// When the rows begin, and the newest time that is known; in ticks.
  int64_t base = 0, newest = 0;
  /// Null if no IR is recorded.
  std::unique_ptr<IRKeeper> ir;
  Memo<uint32_t> patternNames, passNames, files;

  Section strings{SectionKind::Strings, 0},
      locations{SectionKind::Locations, sizeof(LocationRow)},
      patches{SectionKind::Patches, sizeof(PatchRow)},
      reasons{SectionKind::Reasons, sizeof(ReasonRow)},
      samples{SectionKind::Samples, 0};
  PackedSection operations{SectionKind::Operations},
      changes{SectionKind::Changes};

  std::vector<Dictionary> dictionaries;
  /// Of 8 MiB of locations, and of 2 MiB of names.
  AddressNumbers<19> locationNumbers;
  AddressNumbers<17> functionNumbers;
  TextNumbers reasonNumbers;
  uint32_t lastLocation = 0;
  /// In which function a block is, as long as no block is made, moved or erased
  /// and no pass begins, which may give functions other names.
  struct KnownBlock {
    mlir::Block *block = nullptr;
    uint64_t places = 0;
    uint32_t function = 0;
  } knownBlocks[16];
  uint64_t places = 0;
  /// The symbol around what is in an operation that may be a function, as long
  /// as what was said of blocks holds.
  struct KnownFunction {
    uint32_t id = 0, function = 0;
    uint64_t places = 0;
  } knownFunction;
  /// What actions that are known by their text only are called.
  llvm::StringMap<uint32_t> textNames;
  static constexpr unsigned mostTexts = 4096;
  /// Of patterns without a name, by their address.
  llvm::DenseMap<const mlir::Pattern *, uint32_t> unnamed;
  unsigned unnamedEpoch = 0;

  Counters counters;
  /// The counters at the begin of the actions that run.
  std::vector<uint64_t> counted;
  /// Stands for counters that could not be read.
  static constexpr uint64_t missing = ~uint64_t(0);
};

} // namespace adbg

#endif // ACTIONDBG_RECORDER_H
