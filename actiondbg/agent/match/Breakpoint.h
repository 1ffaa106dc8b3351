//===- Breakpoint.h - Breakpoints, watches and catches ----------*- C++ -*-===//

#ifndef ACTIONDBG_BREAKPOINT_H
#define ACTIONDBG_BREAKPOINT_H

#include "match/Match.h"
#include "observe/Digest.h"
#include "observe/Identity.h"
#include "observe/Outcome.h"

namespace adbg {

/// What is watched, and how it was when it was looked at last.
class Watch {
public:
  enum class About : uint8_t { Operation, Count, Attribute };

  static std::optional<Watch> parse(Fields &fields);
  bool isSameAs(const Watch &other) const;

  /// Begins to watch, if what is watched is there.
  void arm(const Identities &ids, mlir::Operation *anywhere);

  // What happens to operations. An event is kept until it is asked for.
  void created(mlir::Operation *op, uint32_t id);
  void placed(mlir::Operation *op, uint32_t id, bool isNew);
  void moved(mlir::Operation *op);
  void replaced(mlir::Operation *op, const ValueName &by,
                mlir::Operation *next);
  void destroyed(mlir::Operation *op, bool wasPlaced);

  /// Returns what has happened since it was asked last; empty for nothing.
  std::string happened();
  /// Forgets what has happened so far: the input was parsed.
  void settle();

  mlir::Operation *watched() const { return target; }

private:
  void follow(mlir::Operation *op, uint32_t id);
  void tell(const llvm::Twine &event);
  void compare();
  std::string attributeText() const;

  About about = About::Operation;
  uint32_t id = 0;
  bool exact = false;
  std::string attribute;
  std::optional<Glob> glob;

  bool armed = false;
  mlir::Operation *target = nullptr;
  std::string name;
  Shape shape;
  const void *value = nullptr;
  std::string valueText;
  int64_t count = 0, counted = 0;
  std::string event;
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
  static std::optional<Catch> parse(Fields &fields);
};

struct Breakpoint {
  int id = 0;
  bool enabled = true;
  bool temporary = false;
  bool after = false;
  /// Written to the log instead of stopped at.
  bool log = false;
  int64_t ignore = 0;
  uint64_t hits = 0;
  Spec spec;
  std::optional<OutcomeFilter> outcome;
  std::optional<Watch> watch;
  std::optional<Catch> catches;

  static std::optional<Breakpoint> parse(Fields &fields);
  /// Counts a hit; returns whether it is to be told of.
  bool hit();
  /// Takes over what one of the same id knows.
  void inherit(Breakpoint &old);
};

/// The breakpoints whose terms by name match, kept for each combination of tag,
/// pattern name and operation name: most actions match none, and are told so by
/// one look.
class Candidates {
public:
  /// Forgets all: the breakpoints are others now.
  void forget() { slots.clear(); }
  llvm::ArrayRef<Breakpoint *> of(const Frame &frame,
                                  std::vector<Breakpoint> &breakpoints);

private:
  struct Slot {
    const char *tag = nullptr;
    const char *name = nullptr;
    const char *op = nullptr;
    unsigned epoch = 0;
    std::vector<Breakpoint *> found;
  };
  std::vector<Slot> slots;
};

} // namespace adbg

#endif // ACTIONDBG_BREAKPOINT_H
