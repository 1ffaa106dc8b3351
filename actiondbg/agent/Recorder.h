//===- Recorder.h - Writing down the actions of one thread ------*- C++ -*-===//

#ifndef ACTIONDBG_RECORDER_H
#define ACTIONDBG_RECORDER_H

#include "Counters.h"
#include "Observer.h"
#include "RecordedIR.h"
#include <csignal>

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
  /// A context was made: what belonged to the ones before may be gone.
  static void forgetContexts();

  explicit Recorder(Identities &ids);
  ~Recorder();

  void begin(Frame &frame);
  /// `now`: when it was over, in ticks.
  void end(const Frame &frame, int64_t now);
  void reason(const Frame &frame, llvm::StringRef text);
  void change(const Changed &change);
  /// What was in which function may be in another one now.
  void forgetPlaces() { ++places; }
  /// The newest change was none.
  void dropLastChange();

private:
  static constexpr size_t most = 8192;
  static constexpr size_t mostBytes = 1 << 20;
  /// That are remembered: 8 MB.
  static constexpr size_t mostLocations = 1 << 18;

  void flush();
  /// In the handler of a signal, which may have come at any moment.
  void flushNow() {
    if (!isBusy)
      flush();
  }
  bool isFull() const;
  uint32_t nameOf(const Frame &frame);
  uint32_t textOfName(const Frame &frame);
  uint32_t describe(mlir::Operation *op);
  void describeAs(mlir::Operation *op, uint32_t id);
  uint32_t locationOf(mlir::Location location);
  uint32_t findLocation(mlir::Location location);
  uint32_t functionOf(mlir::Operation *op);
  uint32_t of(Space space, llvm::StringRef text) {
    return dictionaries[static_cast<unsigned>(space)].of(text, strings);
  }
  void beginSample();
  void endSample(const Frame &frame);
  void enlist();
  void delist();
  static void flushAll();
  static void crashed();
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
  volatile bool isBusy = false;
  unsigned thread = 0;
  std::unique_ptr<ActionRow[]> rows{new ActionRow[most]};
  size_t count = 0;
  uint64_t firstRow = 0;
  /// When the rows begin, and the newest time that is known; in ticks.
  int64_t base = 0, newest = 0;

  Section strings{SectionKind::Strings, 0},
      locations{SectionKind::Locations, sizeof(LocationRow)},
      patches{SectionKind::Patches, sizeof(PatchRow)},
      reasons{SectionKind::Reasons, sizeof(ReasonRow)},
      samples{SectionKind::Samples, 0};
  PackedSection operations{SectionKind::Operations},
      changes{SectionKind::Changes};

  std::vector<Dictionary> dictionaries;
  Memo<uint32_t> patternNames, foldNames, passNames, opNames, files, functions;
  llvm::DenseMap<const void *, uint32_t> locationIds;
  uint32_t lastLocation = 0;
  std::pair<const void *, uint32_t> newestLocation;
  /// In which function a block is, as long as no block is made, moved or erased
  /// and no pass begins, which may give functions other names.
  struct KnownBlock {
    mlir::Block *block = nullptr;
    uint64_t places = 0;
    uint32_t function = 0;
  } knownBlocks[16];
  uint64_t places = 0;
  unsigned contexts = 0;

  /// Null if no IR is recorded.
  std::unique_ptr<IRKeeper> ir;
  Counters counters;
  /// The counters at the begin of the actions that run.
  std::vector<uint64_t> counted;
  /// Stands for counters that could not be read.
  static constexpr uint64_t missing = ~uint64_t(0);
};

} // namespace adbg

#endif // ACTIONDBG_RECORDER_H
