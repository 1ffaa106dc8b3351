//===- Candidates.cpp - Breakpoints by the names of an action -------------===//

#include "match/Candidates.h"
#include "observe/PatternNames.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace adbg {

llvm::ArrayRef<Candidate> Candidates::of(const Frame &frame,
                                         std::vector<Breakpoint> &breakpoints) {
  if (slots.empty())
    slots.resize(1024);
  unsigned now = namesEpoch();
  const Pattern *pattern = frame.pattern();
  Operation *op = frame.op();
  const char *tag = frame.tag().data();
  const char *name = pattern ? nameOf(*pattern).data() : nullptr;
  const char *opName = op ? op->getName().getStringRef().data() : nullptr;
  Slot &slot =
      slots[(spread(tag) ^ spread(name) * 3 ^ spread(opName) * 5) & 1023];
  // A pass is matched by more than these names.
  bool isWhole = frame.kind != Kind::Pass;
  if (isWhole && slot.tag == tag && slot.name == name && slot.op == opName &&
      slot.epoch == now)
    return slot.found;
  slot = Slot{isWhole ? tag : nullptr, name, opName, now, {}};
  for (Breakpoint &one : breakpoints) {
    if (!one.enabled || one.watch || one.catches)
      continue;
    if (std::optional<Spec::Terms> open = one.spec.openTerms(frame))
      slot.found.push_back({&one, std::move(*open)});
  }
  return slot.found;
}

} // namespace adbg
