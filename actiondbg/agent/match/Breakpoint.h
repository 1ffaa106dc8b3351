//===- Breakpoint.h - Breakpoints, watches and catches ----------*- C++ -*-===//

#pragma once

#include "match/Spec.h"
#include "match/Watch.h"

namespace adbg {

/// The outcomes that a breakpoint stops at; an empty filter matches every
/// outcome.
struct OutcomeFilter {
  bool succeeded = false, failed = false, changed = false, unchanged = false,
       skipped = false;
  std::optional<Glob> reason;

  static OutcomeFilter parse(Fields &fields);
  bool asksForAll() const;
  /// Whether matching needs the reasons, so that they must be collected.
  bool needsReasons() const { return asksForAll() || failed || reason; }
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

struct Catch {
  CatchKind kind = CatchKind::Failure;
  std::optional<Glob> glob;
  static Catch parse(Fields &fields);
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
  /// Counts a hit; returns whether to report it.
  bool hit();
  /// Takes over the counts of the breakpoint with the same id.
  void inherit(Breakpoint &old);
};

} // namespace adbg
