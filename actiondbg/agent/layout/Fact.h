//===- Fact.h - Something that a build of MLIR may contradict ---*- C++ -*-===//

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

} // namespace adbg
