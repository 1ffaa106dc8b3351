//===- Facts.h - What is known of builds of MLIR ----------------*- C++ -*-===//
//
// Each entry says what the agent relies on, since when it is so, and what
// proves it in the process. What is the same in all versions since LLVM 19 has
// no version. The layouts that are chosen among, of regions and blocks, are in
// Layout.cpp; the names of functions in ToolFunctions.h and Versions.h. How
// each is proved to be refuted where it is false: tests/tool/agent/
// test_refuted_facts.py.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "detour/Instances.h"
#include "support/LLVM.h"

namespace adbg {

/// What the agent takes for true of the tool's MLIR, such as a layout, and
/// proves in a fork before it relies on it. There is an answer for each MLIR in
/// the process. Safe for concurrent threads.
class Fact {
public:
  enum class Answer : uint8_t { Unknown, Proved, Refuted };
  /// What a check returns if it had nothing to tell it by: the next use tries
  /// again, some times.
  static constexpr const char *nothingTold = "nothing told it";
  /// Likewise, if it is true of what was checked, which does not tell enough to
  /// take it for true of anything else.
  static constexpr const char *oneTold = "only one told it";
  using Check = function_ref<std::string()>;

  explicit constexpr Fact(const char *name) : name(name) {}

  /// Whether it is true; unless that is known, as `check` finds, which returns
  /// why it is not: the end of a sentence; empty if it is.
  bool holds(Check check) {
    Answer known = states[Instances::current()].answer;
    return LLVM_LIKELY(known == Answer::Proved) ||
           (known == Answer::Unknown && tries(check));
  }
  /// Whether a first call of a function of the tool came to its end.
  bool isSafe(function_ref<void()> call) {
    auto check = [&]() -> std::string {
      call();
      return "";
    };
    return holds(check);
  }
  /// Returns what such a call returns, perhaps an optional; nothing if it is
  /// not safe.
  template <typename Call> auto safely(Call call) {
    return isSafe([&] { (void)call(); }) ? std::optional(call()) : std::nullopt;
  }
  bool isProved() const { return answer() == Answer::Proved; }
  bool isRefuted() const { return answer() == Answer::Refuted; }
  Answer answer() const { return states[Instances::current()].answer; }
  /// Why it is refuted; empty if it is not.
  std::string why() const {
    const char *text = states[Instances::current()].why;
    return text && answer() == Answer::Refuted ? text : "";
  }

  const char *const name;

private:
  bool tries(Check check);

  static constexpr unsigned mostTries = 20;
  struct State {
    std::atomic<Answer> answer{Answer::Unknown};
    unsigned tries = 0;
    /// Lives forever.
    const char *why = nullptr;
  };
  State states[Instances::most];
  std::mutex mutex;
  /// In the fork, in which the check itself relies on it.
  bool isTried = false;
};

namespace facts {

// How attributes are stored, see Storage.h. The parts that are read of the
// first attribute that is not empty are in the text that the tool prints of it.
inline Fact string("string"), dictionary("dictionary"),
    fusedLocation("fused location"), callSiteLocation("call site location"),
    nameLocation("name location"), opaqueLocation("opaque location");
/// A file, a line and a column by the tool's functions; since LLVM 20 a range.
/// They are what the tool prints.
inline Fact fileLocation("file location");

/// Actions: the pass or the pattern behind the base, whose name is in what the
/// action prints; and the pattern's labels and root, which look like names. The
/// order of an action's virtual functions is proved for each class of actions.
inline Fact passOfAction("pass of an action"),
    patternOfAction("pattern of an action");
/// A set of patterns that is not frozen: where the patterns are, by their
/// names.
inline Fact patternSet("set of patterns");
/// A frozen set of patterns: where the patterns are, by their roots; 8 bytes
/// further in builds with ABI-breaking checks.
inline Fact frozenPatterns("frozen patterns");

/// The tool's function that returns the parent of a block: it leads to an
/// operation that is in none.
inline Fact parents("parent of a block");

/// Diagnostics: the text and the notes, which are vectors, of a class of their
/// own since LLVM 24. The text that is read is the text that the tool's
/// function prints: for the agent's first diagnostic, and for the tool's.
inline Fact madeDiagnostic("diagnostic of the agent"),
    diagnostic("diagnostic of the tool");

// Functions of the tool that are called: the first call comes to its end.
inline Fact subElements("walkImmediateSubElements"), parseType("parseType"),
    legality("getOpAction"), isIllegal("isIllegal"), convertType("convertType"),
    convertValueType("convertType of a value");
/// The places of operations in a source file lead to their names there.
inline Fact sourceNames("names in the source");
/// The interpreter of schedules: where an outcome has its success.
inline Fact schedules("outcomes of schedules");

inline Fact *const all[] = {
    &string,          &dictionary,     &fusedLocation, &callSiteLocation,
    &nameLocation,    &opaqueLocation, &fileLocation,  &passOfAction,
    &patternOfAction, &patternSet,     &parents,       &frozenPatterns,
    &madeDiagnostic,  &diagnostic,     &subElements,   &parseType,
    &legality,        &isIllegal,      &convertType,   &convertValueType,
    &sourceNames,     &schedules};

} // namespace facts
} // namespace adbg
