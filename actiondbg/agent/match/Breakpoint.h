//===- Breakpoint.h - Breakpoints, watches and catches ----------*- C++ -*-===//

#pragma once

#include "match/Spec.h"

namespace adbg {

/// A watched object and its last observed state.
class Watch {
public:
  enum class About : uint8_t { Operation, Count, Attribute };

  static Watch parse(Fields &fields);
  bool isSameAs(const Watch &other) const;

  /// Starts watching, if the object exists.
  void arm(Operation *anywhere);

  // Events of operations. An event is kept until `takeEvents` returns it.
  void created(Operation *op, uint32_t id);
  void placed(Operation *op, uint32_t id, bool isNew);
  void moved(Operation *op);
  void replaced(Operation *op, const ValueName &by, Operation *next);
  void destroyed(Operation *op, bool wasPlaced);

  /// Returns the events since the last call; empty if there are none.
  std::string takeEvents();
  /// Drops the events so far, before the first action: they came from parsing
  /// the input. `anywhere` is an operation of it.
  void dropEvents(Operation *anywhere);

  /// Whether the operation is gone, without a replacement that is followed.
  bool hasEnded() const { return about != About::Count && armed && !target; }

private:
  void countFrom(Operation *anywhere);
  void follow(Operation *op, uint32_t id);
  void addEvent(const std::string &event);
  void compare();
  std::string attributeText() const;

  About about = About::Operation;
  /// The operation that was asked for, and the one in its place now.
  uint32_t asked = 0, id = 0;
  bool exact = false;
  std::string attribute;
  std::optional<Glob> glob;

  bool armed = false;
  Operation *target = nullptr;
  std::string name;
  Shape shape;
  const void *value = nullptr;
  std::string valueText;
  int64_t count = 0, counted = 0;
  std::string event;
};

/// The outcomes that a breakpoint stops at; an empty filter matches every
/// outcome.
struct OutcomeFilter {
  Results results = noResult;
  bool changed = false;
  std::optional<Glob> reason;

  static OutcomeFilter parse(Fields &fields);
  bool asksForAll() const { return !(results || changed || reason); }
  /// Whether matching needs the reasons, so that they must be collected.
  bool needsReasons() const {
    return asksForAll() || (results & asSet(Result::Failed)) || reason;
  }
  /// `own`: ignore changes of nested actions.
  bool matches(const Frame &frame, bool own) const;
};

enum class CatchKind : uint8_t {
  Failure,
  Crash,
  Verify,
  Diagnostic,
  Nonconvergence
};

/// An event that can be caught.
struct Event {
  CatchKind kind;
  /// Its message, which globs are matched with.
  StringRef text;
};

struct Catch {
  CatchKind kind = CatchKind::Failure;
  std::optional<Glob> glob;
  static Catch parse(Fields &fields);
  bool matches(const Event &event) {
    return kind == event.kind && (!glob || glob->matchesNow(event.text));
  }
};

struct Breakpoint {
  int id = 0;
  bool enabled = true;
  bool temporary = false;
  bool after = false;
  /// Hits are logged instead of stopping.
  bool log = false;
  int64_t ignore = 0;
  uint64_t hits = 0;
  /// Whether running actions with an ordinal above `evaluated` are still to be
  /// evaluated: it was set, enabled or changed after they began.
  bool isNew = false;
  uint64_t evaluated = 0;
  /// What it stops at, as text.
  std::string meaning;
  Spec spec;
  std::optional<OutcomeFilter> outcome;
  std::optional<Watch> watch;
  std::optional<Catch> catches;

  static Breakpoint parse(Fields &fields);
  /// Whether it depends on the outcome of the action.
  bool isAboutOutcome() const { return outcome || spec.isAboutOutcome(); }
  bool needsReasons() const {
    return outcome ? outcome->needsReasons() : isAboutOutcome();
  }
};

} // namespace adbg
