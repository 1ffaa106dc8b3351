//===- Fact.cpp - Something that a build of MLIR may contradict -----------===//

#include "layout/Fact.h"
#include "layout/Proof.h"
#include "support/AgentHeap.h"

namespace adbg {

bool Fact::tries(Check check) {
  // A hook on the way of the check relies on it.
  if (isTried)
    return true;
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex);
  State &state = states[Instances::current()];
  if (state.answer != Answer::Unknown)
    return state.answer == Answer::Proved;
  auto step = [&] {
    isTried = true;
    return check();
  };
  std::string why = proveInForks({{name, step}}).front();
  if (why == nothingTold && ++state.tries < mostTries)
    return false;
  if (why == oneTold && ++state.tries < mostTries)
    return true;
  if (why == oneTold)
    why.clear();
  if (!why.empty())
    state.why = strdup(why.c_str());
  state.answer = why.empty() ? Answer::Proved : Answer::Refuted;
  return why.empty();
}

} // namespace adbg
