//===- PatternChecks.h - Whether patterns keep the rules --------*- C++ -*-===//
//
// A pattern changes IR if and only if it returns success, each change is told
// to the rewriter's listener, and what it leaves is valid. MLIR checks this
// only where it is built with MLIR_ENABLE_EXPENSIVE_PATTERN_API_CHECKS, and
// stops at the first pattern that does not. New operations have a location.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "engine/Frame.h"

namespace adbg {

/// Finds the operation that a diagnostic is about, of which MLIR keeps the
/// location only.
class Diagnosed {
public:
  /// Called when an operation has made a diagnostic that is not reported yet.
  void made(Operation *op) { last = OperationHandle(op); }
  /// Returns the operation that made the diagnostic at a location; otherwise
  /// the only operation at or below `root` with that location, or null.
  Operation *at(Location location, Operation *root) const;

  /// Returns the innermost operation at or below `root` of which the verifier
  /// says `error`, or null. Asked in a fork: the IR is invalid.
  static Operation *refused(Operation *root, StringRef error);

private:
  OperationHandle last;
};

/// Verifies the IR after each action, where it must be valid.
class ActionVerifier {
public:
  bool isOn = false;

  /// Verifies the IR around an action; before an action, this covers the
  /// preceding work of its parent. Returns why the IR is invalid if it was
  /// valid at the previous check of that function, otherwise an empty string.
  std::string check(const Frame &frame);
  /// The operation that the last check found invalid; null if it is unknown.
  Operation *invalid() const { return found.get(); }

  /// Returns why an operation is invalid; empty if it is valid.
  std::string whyInvalid(Operation *op);

private:
  /// Notes an invalid function; returns whether it was not known to be.
  bool becomesInvalid(Operation *scope, bool isAlone);
  /// Returns the innermost functions in `op` that are invalid by themselves,
  /// and forgets of the others that they were.
  std::vector<Operation *> invalidIn(Operation *op);

  OperationHandle found;
  /// A function that is known to be invalid, and whether it is by itself, not
  /// by what is around it, such as a symbol.
  struct Broken {
    OperationHandle scope;
    bool isAlone;
  };
  std::vector<Broken> broken;
};

class Recorder;

/// The rules, in the order of docs/recordings.md.
enum class Rule : uint32_t {
  ChangedButFailed,
  SuccessWithoutChange,
  NotNotified,
  InvalidIR,
  LostLocation
};

/// Checks the outermost patterns of one thread, those of dialect conversions
/// aside: a conversion undoes what a pattern did that failed. Locations are
/// checked in all patterns.
class PatternChecks {
public:
  /// Set before there are threads.
  static bool areOn;
  /// Whether the innermost rewriter of this thread has a listener that is
  /// heard: without one there is nobody to tell.
  static thread_local bool isHearing;

  void begin(const Frame &frame);
  /// Records the rules that the pattern breaks.
  void end(const Frame &frame, Recorder &recorder);
  bool isChecking() const { return !patterns.empty(); }

  /// A change by an action. `isNew`: the operation was created by it.
  void changed(const Frame &frame, ChangeKind kind, Operation *op, uint32_t id,
               bool isNew);
  /// A listener was told of a change to an operation.
  void heard(Operation *op);

private:
  /// A running pattern.
  struct Running {
    const Frame *frame;
    /// Whether its operation has a location, which new ones can take over.
    bool isPlaced;
    /// The new operations without a location.
    std::vector<OperationHandle> unplaced;
  };
  static void findUnplaced(const Running &pattern, Recorder &recorder);
  void findSilent(const Frame &frame, Recorder &recorder);
  /// Whether a changed operation is outside of the scope of the pattern. What
  /// is known of its own scope is forgotten then.
  bool isOutside(Operation *op);
  /// Whether the pattern changed what is around its scope, such as a module.
  bool isChangedOutside(Operation *around) const;
  struct Invalid {
    std::string why;
    Operation *op; // null if it is unknown
  };
  /// Verifies in a fork: invalid IR may crash a verifier. `why` is empty for
  /// valid IR; nothing if it is not known.
  std::optional<Invalid> verify(Operation *around);
  void findInvalid(const Frame &frame, Operation *around, uint64_t after,
                   Recorder &recorder);

  /// The outermost first.
  std::vector<Running> patterns;
  const Frame *checked = nullptr;
  /// The operation that contains what the pattern changes, mostly; its own.
  OperationHandle scope, root;
  uint64_t before = 0;
  Shape rootBefore;
  /// The operations in the scope, and those around it.
  Snapshot snapshot, outer;
  std::unordered_set<uint32_t> told;
  struct Made {
    ChangeKind kind;
    uint32_t id;
    OperationHandle op;
    StringRef name;
  };
  std::vector<Made> made;
  /// Whether the pattern told of a change outside of its scope.
  bool isElsewhere = false;
  ActionVerifier verifier;
  /// What is known of a scope.
  struct Verified {
    // The ordinal of the action around the last pattern.
    uint64_t in = UINT64_MAX;
    uint64_t digest = 0;
    bool isInvalid = false;
  };
  /// By the ids of the scopes.
  std::unordered_map<uint32_t, Verified> verified;
};

} // namespace adbg
