//===- Recorder.h - The recorder of one thread ------------------*- C++ -*-===//

#pragma once

#include "observe/Observer.h"
#include "record/RecordSettings.h"
#include "record/RecordedIR.h"
#include "support/AgentHeap.h"
#include "support/ExitAtOnce.h"

namespace adbg {

/// The numbers of objects that a context owns: locations, names. An object
/// whose entry was evicted gets a new number, which readers accept; therefore
/// the memory is bounded. Neighbours in memory, which usually are neighbours in
/// the source, are neighbours in this table: scattering them would slow the
/// tool by several percent, through page faults and cache misses.
template <unsigned sizeBits> class AddressNumbers {
public:
  /// Returns the number of the object at `address`; 0 if there is none.
  uint32_t find(const void *address) {
    const Slot &slot = slotOf(address);
    return LLVM_LIKELY(slot.above == aboveOf(address)) ? slot.number : 0;
  }
  void set(const void *address, uint32_t number) {
    slotOf(address) = {aboveOf(address), number};
  }

private:
  // The bits of an address: offset within 16 bytes, then the slot. Two objects
  // within the same 16 bytes, which are rare, evict each other.
  static constexpr unsigned alignBits = 4;
  static constexpr size_t size = size_t(1) << sizeBits;
  struct Slot {
    /// The bits of the address above the slot index.
    uint32_t above;
    uint32_t number;
  };
  struct Free {
    void operator()(void *memory) const { free(memory); }
  };

  static uint32_t aboveOf(const void *address) {
    auto number = reinterpret_cast<uintptr_t>(address);
    return number >> (alignBits + sizeBits) << alignBits |
           (number & ((1 << alignBits) - 1));
  }
  Slot &slotOf(const void *address) {
    if (LLVM_UNLIKELY(!slots || epoch != contextsEpoch()))
      forget();
    return slots[(reinterpret_cast<uintptr_t>(address) >> alignBits) % size];
  }
  void forget() {
    // calloc: the kernel maps a page at its first write.
    slots.reset(static_cast<Slot *>(calloc(size, sizeof(Slot))));
    if (!slots)
      endWithoutMemory("actiondbg: no memory for a recording");
    epoch = contextsEpoch();
  }

  std::unique_ptr<Slot[], Free> slots;
  unsigned epoch = 0;
};

/// The numbers of texts that are reported repeatedly from the same address:
/// comparing them is faster than hashing them.
class TextNumbers {
public:
  template <typename Compute> uint32_t get(StringRef text, Compute compute) {
    if (LLVM_UNLIKELY(slots.empty()))
      slots.resize(256);
    Slot &slot = slots[spread(text.data()) % 256];
    if (LLVM_UNLIKELY(!slot.number || slot.text != text)) {
      slot.text.assign(text.data(), text.size());
      slot.number = compute();
    }
    return slot.number;
  }

private:
  struct Slot {
    std::string text;
    uint32_t number = 0;
  };
  std::vector<Slot> slots;
};

/// A change, while it happens.
struct Changed {
  ChangeKind kind;
  Operation *op;
  uint32_t id;
  /// The ordinal of the action that makes the change.
  uint64_t ordinal;
  const Detail &detail;
  /// The operation is destroyed and its id released; whether it was described
  /// before.
  bool isGone = false, wasDescribed = false;

  bool isBlock() const { return detail.isBlock; }
};

/// Records the actions of one thread. Called at each action, so it must be
/// fast; its memory is bounded.
class Recorder {
public:
  /// Starts the recording of this process, before there are threads. Returns
  /// false if the file cannot be written.
  static bool start(const RecordSettings &settings, bool isThreaded);
  static bool isOn() { return RecordFile::isOpen(); }
  /// Flushes all threads and writes the end of the recording: the tool exits.
  static void finish(int status);
  /// Completes the recording, since another program may take the place of this
  /// one; returns the size to which the file is cut if that fails.
  static off_t finishForNow();
  /// Flushes all threads, so that the file can be read.
  static void flushAll() {
    if (isOn())
      flushEverywhere();
  }

  explicit Recorder(OperationNames &names);
  ~Recorder();

  /// Flushes all threads and writes the end of the recording: the tool crashed.
  /// Runs in a signal handler; if another thread crashes at the same time, it
  /// waits there for the end of the process.
  static void crash();
  /// The handler of the tool has returned, which may have recovered, or not.
  static void mayRecover();
  /// Goes on after that: a handler of the tool has recovered.
  static void recover();

  /// Records the beginning of an action. `kind` and `op` are the frame's kind
  /// and the operation of the action, if any.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void begin(Frame &frame, Kind kind,
                                          Operation *op, NameFacts *folded) {
    Busy busy(*this);
    if (LLVM_UNLIKELY(kind == Kind::Pass)) {
      leaveCrash(); // a handler of the tool has recovered
      forgetPlaces();
      if (op)
        forgetRenamed(op);
    }
    if (LLVM_UNLIKELY(isFull()))
      flush();
    if (LLVM_UNLIKELY(ir != nullptr))
      beginIR(frame);
    ActionRow &row = rows[count];
    // First, because `folded` may become invalid below.
    row.name =
        kind == Kind::Fold ? nameOfFold(frame, *folded) : nameOf(frame, kind);
    row.operation = LLVM_LIKELY(op) ? describe(op) : 0;
    row.duration = 0;
    row.depth = std::min(frame.depth, 0xffffu);
    row.outcome = row.flags = 0;
    if (LLVM_UNLIKELY(Counters::size()))
      beginSample();
    // Last, so that the time of recording is not attributed to the action.
    frame.began = newest = Observer::now();
    if (LLVM_UNLIKELY(count++ == 0))
      beginChunk();
    row.start = uint64_t(newest - base) / RecordFile::unit;
  }
  /// Records the end of an action. `now`: its end time in ticks.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void end(const Frame &frame, int64_t now) {
    Busy busy(*this);
    if (LLVM_UNLIKELY(Counters::size()))
      endSample(frame);
    newest = now;
    if (LLVM_UNLIKELY(ir != nullptr))
      now -= endIR(frame);
    uint64_t duration = uint64_t(now - frame.began) / RecordFile::unit;
    // For an action of an earlier chunk the difference wraps to a large number.
    uint64_t row = frame.ordinal - 1 - firstRow;
    bool changed = frame.changed();
    auto outcome = static_cast<uint8_t>(1 + int(frame.result(changed)));
    uint8_t flags = changed | frame.isUnheard << 3;
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
  /// Records until when an action ran that the tool left without an end.
  void left(const Frame &frame);
  LLVM_ATTRIBUTE_ALWAYS_INLINE void reason(const Frame &frame, StringRef text) {
    Busy busy(*this);
    text = text.take_front(4096);
    uint32_t number =
        reasonNumbers.get(text, [&] { return of(Space::Reason, text); });
    sections.reasons.add({static_cast<uint32_t>(frame.ordinal - 1), number});
  }
  /// Records a rule that a pattern breaks. `op`: what it is about; null if it
  /// was erased.
  void finding(const Frame &frame, Rule rule, Operation *op, StringRef text);
  // Inlined into its single caller, so that the argument stays in registers.
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
        by = 1 + zigzag(int64_t(value.id) - change.id);
        result = value.result;
      }
    }
    if (LLVM_UNLIKELY(ir != nullptr))
      ir->change(Changed(change)); // a copy keeps the original in registers
    sections.changes.pack(
        {.near = {.row = int64_t(change.ordinal - 1), .operation = change.id},
         .far = {.code = code, .by = by, .byResult = result}});
  }
  /// Records how an operation was made from another.
  void link(LinkKind kind, uint64_t ordinal, uint32_t id, uint32_t from);
  /// Records which operations define the operands of a new one, one link each.
  void uses(Operation *op, uint32_t id, uint64_t ordinal);
  /// Records the operations, after the first, by which one is replaced.
  void replacements(const Changed &change);
  /// Whether the lineage of operations is recorded: clones, all replacements,
  /// and the IR at the beginning and the end.
  static bool followsLineage() { return wantsLineage; }
  /// Whether the IR after the last action is recorded.
  static bool keepsOutput() { return wantsOutput || wantsLineage; }
  /// Whether the threads of contexts are off, so that each run has the same
  /// actions in the same order.
  static bool usesOneThread() { return wantsOneThread; }
  /// Whether patterns of the same benefit are tried in the opposite order.
  static bool reversesPatterns() { return wantsReversed; }
  /// Whether values are identified: IR is recorded.
  static bool keepsValues() {
    return wantedIR != IRDetail::None || wantsLineage;
  }
  /// Forgets the recorders of the threads of the process before a fork.
  static void forgetThreads();
  /// Returns the number of a new thread, with strings of its own.
  static unsigned newThread();
  /// The thread's number and the row of its latest action.
  std::pair<unsigned, uint64_t> place() const {
    return {thread, firstRow + count};
  }
  /// Records that the thread's actions, from the next one on, are in a context.
  void enterContext(unsigned number) {
    if (LLVM_LIKELY(number == context) || number == Contexts::unknown)
      return;
    Busy busy(*this);
    context = number;
    sections.contexts.add({static_cast<uint32_t>(firstRow + count), number});
    if (StringRef mlir = Contexts::all().mlirOf(number); !mlir.empty())
      of(Space::Context, std::to_string(number) + '\0' + mlir.str());
  }
  /// Invalidates the cached function of each block.
  void forgetPlaces() { ++places; }
  /// Marks the descriptions of an operation, and of the operations in it, as
  /// outdated: another function contains them.
  static void forgetAll(Operation *op);
  /// Does the same with each function that was renamed: `op` itself, those in
  /// it if it is a symbol table, or the one around it.
  static void forgetRenamed(Operation *op);
  /// Removes the latest change: it was undone.
  void dropLastChange();

private:
  static constexpr size_t most = 8192;
  static constexpr size_t mostBytes = 1 << 20;
  /// The most time, in nanoseconds, whose records are lost if the tool is
  /// killed.
  static constexpr int64_t longestWait = 333000000;

  void flush();
  /// Records the IR before an action, and the names of the input before an
  /// outermost one.
  void beginIR(const Frame &frame);
  /// Records the IR after an action; returns how long the IR of the actions in
  /// it took, in ticks.
  int64_t endIR(const Frame &frame);
  /// Whether anything is buffered.
  bool isPending() const { return count || !sections.areEmpty(); }
  void beginChunk();
  /// Records the end of an action whose row is already written.
  void patch(PatchRow row);

  /// Whether the buffers must be written before the next action: they are large
  /// or old.
  LLVM_ATTRIBUTE_ALWAYS_INLINE bool isFull() const {
    // In case the timer did not wake the thread; in ticks, which fit into a
    // row.
    constexpr int64_t longest = int64_t(1) << 30;
    return (LLVM_UNLIKELY(count % 64 == 0) && (count == most || isLarge())) ||
           (newest - base > longest && count);
  }
  bool isLarge() const { return count && sections.bytes() > mostBytes; }
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t nameOf(const Frame &frame, Kind kind) {
    if (LLVM_LIKELY(kind == Kind::Pattern))
      if (StringRef name = frame.pattern()->getDebugName();
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
  uint32_t nameOfText(const Frame &frame);
  uint32_t textOfName(const Frame &frame);
  /// Returns the id of an operation; describes the operation if it is new.
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t describe(Operation *op) {
    uint32_t id = ids.ofDescribed(op);
    return LLVM_LIKELY(id) ? id : describeNew(op);
  }
  uint32_t describeNew(Operation *op);
  /// Describes the operation; returns the function that contains it, 0 if there
  /// is none.
  uint32_t describeAs(Operation *op, uint32_t id);
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t locationOf(Location location) {
    const void *key = location.getAsOpaquePointer();
    uint32_t number = locationNumbers.find(key);
    if (LLVM_UNLIKELY(!number))
      locationNumbers.set(key, number = writeLocation(location));
    return number;
  }
  uint32_t writeLocation(Location location);
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint32_t functionOf(Operation *op) {
    Block *block = op->getBlock();
    // An operation with regions may be a function itself.
    if (LLVM_UNLIKELY(!block || mayBeFunction(op)))
      return findFunction(op);
    KnownBlock &known =
        knownBlocks[(uintptr_t(block) >> 6) % std::size(knownBlocks)];
    if (known.block != block || known.places != places)
      known = {block, places, findFunction(op)};
    return known.function;
  }
  uint32_t findFunction(Operation *op);
  uint32_t numberOfSymbol(Operation *holder);
  uint32_t of(Space space, StringRef text) { return strings.of(space, text); }
  void beginSample();
  void endSample(const Frame &frame);
  void enlist();
  void delist();

  /// The recorder of this thread; null if it has none.
  static inline __thread Recorder *ofThread = nullptr;
  static constexpr int64_t millisecond = 1000000;
  static void sleepFor(int64_t nanoseconds);
  static void flushEverywhere();
  /// Flushes this thread. Runs in a signal handler, at any moment.
  void flushNow() {
    if (isBusy)
      return;
    Busy busy(*this);
    flush();
  }
  void wakeIn(int64_t nanoseconds);
  static void onWake(int number);
  static void handleWakeSignal();

  static void writeExit(int status);
  static void writeExitStatus(int status);
  static void writeEnd(const char *text);
  /// Takes the end of a crash back.
  static void withdrawCrash();
  static void handleEndSignals();
  static void raiseEndSignal();
  static void onEnd(int number, siginfo_t *info, void *context);

  /// A termination signal that arrived while the buffers were inconsistent.
  static inline volatile int endSignal = 0;
  static inline IRDetail wantedIR = IRDetail::None;
  static inline Ordinals irOf;
  static inline bool wantsOutput = false, wantsLineage = false,
                     wantsOneThread = false, wantsReversed = false;

  /// Marks the buffers as inconsistent while it lives.
  struct Busy {
    explicit Busy(Recorder &recorder) : isBusy(recorder.isBusy) {
      isBusy = true;
    }
    ~Busy() {
      isBusy = false;
      if (LLVM_UNLIKELY(endSignal))
        raiseEndSignal();
    }
    volatile bool &isBusy;
    AgentHeap agentHeap; // the buffers grow
  };

  OperationNames &names;
  volatile bool isBusy = false;
  unsigned thread = 0;
  /// The number of the context of the latest actions.
  unsigned context = Contexts::unknown;
  /// The number of the recording.
  unsigned file = RecordFile::count();
  /// The thread's id, and the timer that wakes it.
  pid_t id = 0;
  timer_t timer = {};
  bool hasTimer = false;
  volatile unsigned flushes = 0;
  std::unique_ptr<ActionRow[]> rows{new ActionRow[most]};
  size_t count = 0;
  uint64_t firstRow = 0;
  /// The time at which the rows begin, and the latest time recorded; in ticks.
  int64_t base = 0, newest = 0;
  Sections sections;
  Strings strings{sections.strings};
  /// Null if no IR is recorded.
  std::unique_ptr<IRKeeper> ir;
  /// What the IR took so far, in ticks, and what it had taken when each action
  /// that runs began: it is not attributed to actions around it either.
  int64_t irTime = 0;
  std::vector<int64_t> irTimes;
  Memo<uint32_t> patternNames, passNames;

  /// Caches for 8 MiB of locations and 2 MiB of names.
  AddressNumbers<19> locationNumbers;
  AddressNumbers<17> functionNumbers;
  TextNumbers reasonNumbers;
  uint32_t lastLocation = 0;
  /// The function of a block. Valid until a block is made, moved or erased, or
  /// until a pass begins, which may rename functions.
  struct KnownBlock {
    Block *block = nullptr;
    uint64_t places = 0;
    uint32_t function = 0;
  } knownBlocks[16];
  uint64_t places = 0;
  /// The symbol that contains the body of an operation that may be a function.
  /// Valid as long as a KnownBlock.
  struct KnownFunction {
    uint32_t id = 0, function = 0;
    uint64_t places = 0;
  } knownFunction;
  /// The names of actions that are described by their printed text only.
  TextMap<uint32_t> textNames;
  static constexpr unsigned mostTexts = 4096;

  Counters counters;
  /// Counter values at the beginning of each running action.
  std::vector<uint64_t> counted;
  /// Marks counters that could not be read.
  static constexpr uint64_t missing = ~uint64_t(0);
};

} // namespace adbg
