//===- Frame.h - One action on the stack of actions -------------*- C++ -*-===//

#pragma once

#include "observe/Digest.h"
#include "observe/Identity.h"
#include "observe/Provenance.h"
#include "support/Traits.h"
#include "threads/Contexts.h"

#include "mlir/IR/Action.h"

namespace adbg {

enum class ChangeKind : uint8_t { Inserted, Erased, Replaced, Modified, Moved };
constexpr unsigned changeKinds = 5;
inline StringRef textOf(ChangeKind kind) {
  static const char *const texts[changeKinds] = {
      "inserted", "erased", "replaced", "modified", "moved"};
  return texts[static_cast<unsigned>(kind)];
}

/// A value in a change, identified by text and numbers: its operation may have
/// been erased since.
struct ValueName {
  uint32_t id;
  uint32_t result;
  bool isArgument;
  StringRef op;
};

/// One change. It holds pointers to data owned by the context, never to IR.
struct Change {
  ChangeKind kind;
  bool isBlock;
  bool guess;
  /// The operation id; for a block, the id of its parent operation; 0 if
  /// unknown.
  uint32_t id;
  /// The ordinal of the action that made the change; 0 for none.
  uint64_t ordinal;
  OperationName op;
  Location loc;
  std::vector<ValueName> by;
};

/// The number of changes of an action so far, nested actions included.
struct Tally {
  /// The index of its first change, counted from the start of the run.
  uint64_t first = 0;
  /// The first operation id created since the action began.
  uint32_t firstId = 0;
  uint32_t counts[changeKinds] = {};
  /// Changes minus undone ones: an operation that is inserted and erased again
  /// counts 0.
  int32_t net = 0;
  /// The same, without nested actions.
  int32_t ownNet = 0;
  /// Whether there was any change, undone or not.
  bool isTouched = false;

  uint64_t total() const {
    uint64_t sum = 0;
    for (uint32_t count : counts)
      sum += count;
    return sum;
  }
};

/// The latest changes of the running actions. Bounded: the earliest changes of
/// an action with very many are counted but dropped.
class ChangeLog {
public:
  uint64_t end() const { return dropped + held.size(); }
  uint64_t begin() const { return dropped; }
  const Change &operator[](uint64_t index) const {
    return held[index - dropped];
  }
  void add(Change change) {
    if (held.size() == most) {
      held.erase(held.begin(), held.begin() + most / 2);
      dropped += most / 2;
    }
    held.push_back(std::move(change));
  }
  /// Counts a change without storing it: earlier changes can then no longer be
  /// listed in order.
  void countOnly() {
    if (LLVM_UNLIKELY(!held.empty()))
      clear();
    ++dropped;
  }
  void dropLast() {
    if (held.empty())
      --dropped;
    else
      held.pop_back();
  }
  /// Clears the log: no action is running.
  void clear() {
    dropped += held.size();
    held.clear();
  }

private:
  static constexpr size_t most = 16384;
  std::vector<Change> held;
  uint64_t dropped = 0;
};

/// The kind of an action; None for a frame without an action.
enum class Kind : uint8_t {
  Fold,
  Pattern,
  Pass,
  Iteration,
  Conversion,
  /// The interpretation of an operation of a transform dialect schedule.
  Step,
  Other,
  None
};

/// The result of a fold.
enum class Found : uint8_t { Nothing, InPlace, Constants, Values, Both };
StringRef textOf(Found found);

/// The result of an action, if it is observable.
enum class Returned : uint8_t { Unknown, Failure, Success, RolledBack };

enum class Result : uint8_t { Succeeded, Unchanged, Failed, Skipped };
StringRef textOf(Result result);

/// A set of results, a bit each.
using Results = uint8_t;
constexpr Results noResult = 0, anyResult = 0xf;
constexpr Results asSet(Result result) {
  return static_cast<Results>(1u << static_cast<unsigned>(result));
}

/// Describes an IR unit that was erased while its action ran.
struct ErasedUnit {
  size_t unit;
  uint32_t id;
  // Objects owned by the context: text is produced on request.
  OperationName name;
  Location location;
  /// The symbol that contains it; null if there is none.
  StringAttr function;
  /// Its replacement, if that is a live operation.
  Operation *by = nullptr;
};

/// By operation, a number that grows in the order of the text.
using Places = std::unordered_map<Operation *, uint32_t>;

/// Data that few actions have: initializing it for each action would take
/// longer than most actions do.
struct Rare {
  /// Units that were erased or replaced since the action began.
  std::vector<ErasedUnit> erased;
  /// Breakpoints that stop after this action whatever its outcome.
  std::vector<int> stopAfter;
  /// Those that depend on its outcome, and the results that their conditions
  /// allow.
  std::vector<std::pair<int, Results>> undecided;
  std::vector<std::string> reasons, values;
  std::unique_ptr<Snapshot> snapshot;
  /// Of a pass or a step that has inserted operations itself, while the lineage
  /// is recorded: the operands before.
  std::unique_ptr<OperandSnapshot> operands;
  /// Of a run of CSE: the places in the text of operations with uses at its
  /// beginning, from 1; it erases the others as dead.
  Places places;
  /// For a pass: its number among the tool's runs of this pass, from 1; 0 for a
  /// run of an alternative.
  uint64_t run = 0;
  /// For a pass: pipelines of an alternative that run before it, in its place,
  /// and after it.
  std::vector<std::string> before, instead, after;
  std::optional<std::string> name;
  /// The first error that was reported in it; the operation of the first error
  /// that is about a live one.
  std::string error;
  OperationHandle failing;
};

/// One dispatched action. Lives on the stack of the thread that runs it;
/// everything costly is computed on request.
struct Frame {
  Frame *parent = nullptr;
  /// The dialect conversion around this action, if there is one.
  Frame *conversion = nullptr;
  /// The action; null for a fold and a step of a schedule, which upstream has
  /// no actions for.
  const tracing::Action *action = nullptr;
  /// For a fold and a step: the key of the operation's name; the operation may
  /// be erased since.
  const void *nameKey = nullptr;
  ArrayRef<IRUnit> units;

  // Ordered by size, because all of this is initialized for each action.
  uint64_t ordinal = 0;
  /// Its number among those of its tag, from 1.
  uint64_t nth = 0;
  /// The clock when it began, if actions are counted (stops aside) or recorded;
  /// otherwise 0.
  int64_t began = 0;
  /// The time that it took, if actions are counted.
  int64_t took = 0;
  uint64_t digest = 0;
  uint64_t rewrites = 0;
  /// For a pass: the number of patterns and folds tried in it.
  uint64_t leaves = 0;
  /// Its changes.
  Tally tally;
  uint32_t depth = 0;
  uint32_t foldedId = 0;
  uint32_t legalized = 0, rolledBack = 0, errors = 0;
  /// The number of changing actions of other threads inside this one.
  std::atomic<int32_t> changesElsewhere{0};

  Kind kind = Kind::Other;
  Returned returned = Returned::Unknown;
  Found found = Found::Nothing;
  bool over = false;
  bool skipped = false;
  /// Whether a pipeline of an alternative runs it, not the tool.
  bool isAlternative = false;
  /// Set by a plan: its name, or the name of a pass around it, is in `always`;
  /// selected by the user; inside a pass whose actions must all run; a
  /// candidate; skipped. See Plan.h.
  bool isExempt = false, isSelected = false, isHeld = false,
       isCandidate = false, isPlanned = false;
  /// The results after which the resumption's `until` matches this action; it
  /// waits for the end.
  Results untilResults = noResult;
  /// For a pattern: whether nobody hears the reason if it does not match.
  bool isUnheard = false;
  /// Whether to collect reasons, because a stop may follow.
  bool wantsReasons = false;
  /// Whether to search for modifications without a notification.
  bool wantsModified = false;
  bool hasConversion = false;
  /// The number of its context; see context().
  uint16_t contextNumber = Contexts::unknown;

  Frame(const tracing::Action &action);
  /// A fold or a step of the operation in `unit`.
  explicit Frame(ArrayRef<IRUnit> unit, Kind kind = Kind::Fold)
      : nameKey(nameKeyOf(cast<Operation *>(unit[0]))), units(unit),
        kind(kind) {}
  /// Constructs a frame without an action.
  Frame() : kind(Kind::None) {}

  const Rare &rare() const { return made ? *made : none; }
  Rare &needRare() const {
    if (!made)
      made = std::make_unique<Rare>();
    return *made;
  }

  StringRef tag() const;
  /// The subject of the action: pass argument, pattern name and so on, without
  /// the anonymous namespace. Never empty for a pattern.
  std::string name() const;
  /// The name as spelled by the compiler; empty if there is none.
  std::string fullName() const;
  /// The name, owned by the frame: for conditions.
  StringRef shortName() const;
  /// Another name of a pattern without a debug name, see FoundName; otherwise
  /// empty.
  StringRef unnamed() const;
  /// The symbol that contains the operation; empty if there is none.
  StringRef function() const;
  ArrayRef<StringRef> labels() const;
  std::string text() const;
  const Pattern *pattern() const;
  const Pass *pass() const;
  /// The argument of a pass, or the name of its class; owned by the pass.
  StringRef passName() const;
  /// The number of its context, see Contexts; a nested fold has that of the
  /// action around it.
  unsigned context() const {
    const Frame *frame = this;
    while (frame->contextNumber == Contexts::unknown && frame->parent)
      frame = frame->parent;
    return frame->contextNumber;
  }
  /// The number of the greedy driver's iteration that this is or belongs to; -1
  /// if none.
  int64_t iteration() const;

  /// The innermost pass that this is or belongs to, adaptors aside; null if
  /// none.
  const Frame *passAround() const;

  /// For a step: the operation that the pass around it runs on; the outermost
  /// one if there is no pass.
  Operation *payload() const;

  bool isGreedyIteration() const { return kind == Kind::Iteration; }
  bool isConversion() const { return kind == Kind::Conversion; }
  /// Whether this is a pass that only runs other passes.
  bool isAdaptor() const;
  /// Whether this is any other pass.
  bool isRealPass() const { return kind == Kind::Pass && !isAdaptor(); }

  // Valid once the action is over.
  Result result() const { return result(changed()); }
  LLVM_ATTRIBUTE_ALWAYS_INLINE bool changed() const {
    // The caller applies the result of a fold right after it.
    bool isChange = tally.net > 0 || changesElsewhere > 0 ||
                    (kind == Kind::Fold && returned == Returned::Success);
    return LLVM_UNLIKELY(isChange) && returned != Returned::RolledBack &&
           !skipped;
  }
  /// A pattern or fold that did not match, as most do.
  bool isFailedAttempt() const {
    return kind <= Kind::Pattern && returned <= Returned::Failure;
  }
  /// The outcome, given whether the action made changes.
  Result result(bool changed) const {
    if (LLVM_UNLIKELY(skipped))
      return Result::Skipped;
    if (isFailedAttempt() || returned == Returned::Failure ||
        returned == Returned::RolledBack)
      return Result::Failed;
    if (changed || (kind == Kind::Pattern && !seesChanges))
      return Result::Succeeded;
    return Result::Unchanged;
  }
  /// Whether the functions of MLIR that change IR are followed. Without them
  /// only digests show whether an action changed something.
  static bool seesChanges;
  /// Whether a listener tells why the patterns fail that this thread applies.
  static thread_local bool hearsReasons;
  /// Whether it made changes other than through nested actions.
  bool changedItself() const;

  const ErasedUnit *erasedUnit(size_t index) const;
  /// The operation of the action's first unit (the parent of a region, block or
  /// value) when it was dispatched; null if it has none.
  LLVM_ATTRIBUTE_ALWAYS_INLINE Operation *firstOp() const;
  /// That operation or its replacement; null if none is alive.
  LLVM_ATTRIBUTE_ALWAYS_INLINE Operation *op() const;
  Operation *opOfUnit(size_t index) const;

private:
  static const Rare &none;
  mutable std::unique_ptr<Rare> made;
  // Breakpoints may need it for each action.
  mutable StringAttr functionName;
  mutable bool hasFunction = false;
};

/// Returns the operation name with a key.
StringRef nameFrom(const void *key);

/// Returns `name` without the anonymous namespace, in any compiler's spelling.
std::string withoutAnonymous(StringRef name);

/// Returns the part after the last `::` outside of template arguments:
/// `AddIAddConstant`, `BranchOp::canonicalize`.
StringRef lastComponent(StringRef name);

/// Returns the operation of the innermost action from a frame on that has one.
Operation *opAround(const Frame *frame);
/// Returns the operation that contains a unit, or the unit itself.
Operation *holderOfOther(const IRUnit &unit);
LLVM_ATTRIBUTE_ALWAYS_INLINE Operation *holderOf(const IRUnit &unit) {
  auto *op = dyn_cast_if_present<Operation *>(unit);
  return LLVM_LIKELY(op) ? op : holderOfOther(unit);
}

inline Operation *Frame::firstOp() const {
  return LLVM_LIKELY(!units.empty()) ? holderOf(units[0]) : nullptr;
}

inline Operation *Frame::op() const {
  return LLVM_LIKELY(!made) || units.empty() ? firstOp() : opOfUnit(0);
}

/// Returns the nearest operation around `op`, or `op` itself, that has a symbol
/// name and is not a symbol table; null if there is none.
Operation *functionAround(Operation *op);
/// Whether `op` has regions and may have a symbol name.
bool mayBeFunctionByName(Operation *op);
inline bool mayBeFunction(Operation *op) {
  // Most operations have no regions: return early for them.
  return LLVM_UNLIKELY(op->getNumRegions() != 0) && mayBeFunctionByName(op);
}
/// Returns the symbol name of functionAround(op); null if there is none.
StringAttr symbolAround(Operation *op);

StringRef symbolName(Operation *op);
StringAttr symbolAttr(Operation *op);

} // namespace adbg
