//===- PatternChecks.cpp - Whether patterns keep the rules ----------------===//

#include "observe/PatternChecks.h"
#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "record/Recorder.h"

#include <unistd.h>

using namespace mlir;

namespace adbg {

bool PatternChecks::areOn = false;
thread_local bool PatternChecks::isHearing = false;

/// The findings of one pattern application about changes that nobody was told.
static constexpr int mostSilent = 8;

void PatternChecks::begin(const Frame &frame) {
  Operation *op = frame.op();
  if (!op)
    return;
  const Identities &ids = Identities::all();
  Operation *around = op;
  while (around->getParentOp() && !isIsolated(around))
    around = around->getParentOp();
  checked = &frame;
  root = OperationHandle(ids, op);
  scope = OperationHandle(ids, around);
  before = digest(around);
  rootBefore = Shape::of(op);
  snapshot = Snapshot::of(around, ids, /*withBlocks=*/false);
  told.clear();
  made.clear();
}

void PatternChecks::changed(ChangeKind kind, Operation *op, uint32_t id,
                            bool isNew) {
  // A new operation that is gone, or in a new one, was told with that.
  bool isOwn = kind == ChangeKind::Inserted;
  if (kind != ChangeKind::Inserted && kind != ChangeKind::Erased &&
      kind != ChangeKind::Moved)
    return;
  if (isNew == isOwn)
    made.push_back({kind, id, OperationHandle(Identities::all(), op),
                    op->getName().getStringRef()});
}

void PatternChecks::heard(Operation *op) {
  if (uint32_t id = Identities::all().of(op))
    told.insert(id);
}

void PatternChecks::end(const Frame &frame, Recorder &recorder) {
  if (checked != &frame)
    return;
  checked = nullptr;
  Silence silence;
  const Identities &ids = Identities::all();
  Operation *around = scope.get(ids), *op = root.get(ids);
  bool isChanged = !around || !op || digest(around) != before ||
                   !(Shape::of(op) == rootBefore);
  bool isSuccess = frame.returned == Returned::Success;
  if (!isSuccess && isChanged)
    recorder.finding(frame, Rule::ChangedButFailed, op, "");
  if (isSuccess && !isChanged)
    recorder.finding(frame, Rule::SuccessWithoutChange, op, "");
  if (isChanged && isHearing)
    findSilent(frame, recorder);
  if (isChanged && around)
    verify(frame, around, recorder);
}

void PatternChecks::verify(const Frame &frame, Operation *around,
                           Recorder &recorder) {
  const Identities &ids = Identities::all();
  auto check = [&](int fd) {
    std::string why = verifier.whyInvalid(around);
    Operation *op = why.empty() ? nullptr : verifier.invalid();
    auto at = reinterpret_cast<uintptr_t>(op);
    // The operation is at the same place here.
    why.insert(0, reinterpret_cast<const char *>(&at), sizeof(at));
    ssize_t written = write(fd, why.data(), why.size());
    (void)written;
  };
  ForkEnd end = runInFork(check, std::chrono::seconds(10));
  uintptr_t at = 0;
  if (!end.isForked || !end.text)
    return; // not known
  bool isCrash = end.text->size() < sizeof(at);
  if (!isCrash)
    memcpy(&at, end.text->data(), sizeof(at));
  std::string why =
      isCrash ? "the verifier crashes" : end.text->substr(sizeof(at));
  bool wasBroken = std::exchange(isBroken, !why.empty());
  if (why.empty() || wasBroken)
    return;
  auto *op = reinterpret_cast<Operation *>(at);
  recorder.finding(frame, Rule::InvalidIR, ids.of(op) ? op : nullptr, why);
}

void PatternChecks::findSilent(const Frame &frame, Recorder &recorder) {
  const Identities &ids = Identities::all();
  int left = mostSilent;
  auto find = [&](StringRef what, uint32_t id, Operation *op, StringRef name) {
    if (left && !told.contains(id)) {
      --left;
      recorder.finding(frame, Rule::NotNotified, op,
                       what.str() + " " + name.str());
    }
  };
  for (Operation *op : snapshot.modified(ids))
    find("modified", ids.of(op), op, op->getName().getStringRef());
  for (const Made &one : made) {
    Operation *op = one.op.get(ids);
    // Builders of an operation fill its regions without a listener.
    if (one.kind == ChangeKind::Inserted) {
      Operation *parent = op ? op->getParentOp() : nullptr;
      if (!parent || ids.of(parent) >= frame.tally.firstId)
        continue;
    }
    find(textOf(one.kind), one.id, op, one.name);
  }
}

} // namespace adbg
