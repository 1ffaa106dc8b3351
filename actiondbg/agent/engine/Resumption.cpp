//===- Resumption.cpp - How far the tool runs -----------------------------===//

#include "engine/Resumption.h"

namespace adbg {

bool Resumption::usesUp(const Frame &frame, bool over) {
  bool counts = false;
  switch (control) {
  case Control::Step:
    counts = true;
    break;
  case Control::Next:
    // From before an action: after it. From after one: before the next.
    counts = frame.depth <= depth && over == !wasOver;
    break;
  case Control::Finish:
    counts = over && frame.depth < depth;
    break;
  default:
    return false;
  }
  if (!counts)
    return false;
  depth = frame.depth;
  wasOver = over;
  // A finish that has reached the outermost action can go no further.
  bool last = control == Control::Finish && frame.depth == 0;
  return last || --count == 0;
}

llvm::StringRef Resumption::reason() const {
  if (fromStart)
    return "start";
  if (control == Control::Next)
    return "next";
  return control == Control::Finish ? "finish" : "step";
}

} // namespace adbg
