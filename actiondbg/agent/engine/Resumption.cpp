//===- Resumption.cpp - Resuming after a stop -----------------------------===//

#include "engine/Resumption.h"

namespace adbg {

bool Resumption::usesUp(const Frame &frame, bool over) {
  bool counts = false;
  switch (control) {
  case Control::Step:
    counts = true;
    break;
  case Control::Next:
    // next: from before an action to its end; from its end to the next
    // beginning.
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
  // After the outermost action finish has no further target.
  bool last = control == Control::Finish && frame.depth == 0;
  return last || --count == 0;
}

StringRef Resumption::reason() const {
  if (fromStart)
    return "start";
  if (control == Control::Next)
    return "next";
  return control == Control::Finish ? "finish" : "step";
}

} // namespace adbg
