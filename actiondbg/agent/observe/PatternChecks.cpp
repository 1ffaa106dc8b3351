#include "observe/PatternChecks.h"
#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "requests/Request.h"
#include "support/Locations.h"
#include "support/Traits.h"

#include "mlir/IR/Diagnostics.h"

namespace adbg {

bool PatternChecks::areOn = false;
thread_local bool PatternChecks::isHearing = false;

/// The findings of one pattern application about changes that nobody was told,
/// and those about locations.
static constexpr unsigned mostAlike = 8;

void PatternChecks::begin(const Frame &frame) {
  Operation *op = frame.op();
  // Asked now: a folder takes the locations of constants away.
  patterns.push_back({&frame, op && firstPlace(op->getLoc()), {}});
  if (!op || checked || frame.conversion)
    return;
  Operation *around = scopeOf(op);
  checked = &frame;
  root = OperationHandle(op);
  scope = OperationHandle(around);
  before = digest(around);
  rootBefore = Shape::of(op);
  snapshot = Snapshot::of(around, /*withBlocks=*/false);
  outer = Snapshot::outside(around);
  // Others may have broken it before a rewrite, and repaired it in one.
  Verified &known = verified[ids.of(around)];
  uint64_t in = frame.parent ? frame.parent->ordinal : 0;
  if ((known.in != in || known.isInvalid) && known.digest != before)
    if (std::optional<Invalid> now = verify(around))
      known = {in, before, !now->why.empty()};
  known.in = in;
  isElsewhere = false;
  told.clear();
  made.clear();
}

/// Whether an operation without a location may be a clone of one without.
static bool isCloned(Operation *op) {
  return firstIn(scopeOf(op), [op](Operation *other) {
    return other != op && other->getName() == op->getName() &&
           isa<UnknownLoc>(other->getLoc());
  });
}

void PatternChecks::changed(const Frame &frame, ChangeKind kind, Operation *op,
                            uint32_t id, bool isNew) {
  Running &pattern = patterns.back();
  if (kind == ChangeKind::Inserted && isNew && pattern.frame == &frame &&
      pattern.isPlaced && isa<UnknownLoc>(op->getLoc()) && !isCloned(op))
    pattern.unplaced.push_back(OperationHandle(op));
  if (!checked)
    return;
  // A new operation that is gone, or in a new one, was told with that.
  bool isOwn = kind == ChangeKind::Inserted;
  if (kind != ChangeKind::Inserted && kind != ChangeKind::Erased &&
      kind != ChangeKind::Moved)
    return;
  if (kind != ChangeKind::Erased)
    isOutside(op);
  if (isNew == isOwn)
    made.push_back(
        {kind, id, OperationHandle(op), op->getName().getStringRef()});
}

bool PatternChecks::isOutside(Operation *op) {
  Operation *around = checked ? scope.get() : nullptr;
  if (!around || around->isAncestor(op))
    return false;
  // What is there now is not the work of the next pattern in it.
  verified.erase(ids.of(scopeOf(op)));
  return true;
}

void PatternChecks::heard(Operation *op) {
  if (uint32_t id = checked ? ids.of(op) : 0)
    told.insert(id);
  isElsewhere |= isOutside(op);
}

void PatternChecks::end(const Frame &frame, Recorder &recorder) {
  for (bool isFound = frame.kind != Kind::Pattern;
       !isFound && !patterns.empty(); patterns.pop_back()) {
    isFound = patterns.back().frame == &frame;
    if (isFound && frame.returned == Returned::Success)
      findUnplaced(patterns.back(), recorder);
  }
  if (checked != &frame)
    return;
  checked = nullptr;
  Silence silence;
  Operation *around = scope.get(), *op = root.get();
  uint64_t after = around ? digest(around) : 0;
  bool isChanged = !around || !op || after != before ||
                   !(Shape::of(op) == rootBefore) || isChangedOutside(around);
  bool isSuccess = frame.returned == Returned::Success;
  if (!isSuccess && isChanged)
    recorder.finding(frame, Rule::ChangedButFailed, op, "");
  // Without a listener no driver tries all patterns again: some only match.
  if (isSuccess && !isChanged && !isElsewhere && isHearing)
    recorder.finding(frame, Rule::SuccessWithoutChange, op, "");
  if (isChanged && isHearing)
    findSilent(frame, recorder);
  if (isChanged && around)
    findInvalid(frame, around, after, recorder);
}

bool PatternChecks::isChangedOutside(Operation *around) const {
  auto isOutside = [&](const Made &one) {
    Operation *op = one.op.get();
    return one.kind == ChangeKind::Erased || (op && !around->isAncestor(op));
  };
  return !outer.modified().empty() || std::ranges::any_of(made, isOutside);
}

std::optional<PatternChecks::Invalid> PatternChecks::verify(Operation *around) {
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
    return std::nullopt;
  bool isCrash = end.text->size() < sizeof(at);
  if (!isCrash)
    memcpy(&at, end.text->data(), sizeof(at));
  std::string why =
      isCrash ? "the verifier crashes" : end.text->substr(sizeof(at));
  auto *op = reinterpret_cast<Operation *>(at);
  return Invalid{std::move(why), ids.of(op) ? op : nullptr};
}

void PatternChecks::findInvalid(const Frame &frame, Operation *around,
                                uint64_t after, Recorder &recorder) {
  std::optional<Invalid> found = verify(around);
  if (!found)
    return;
  Verified &known = verified[ids.of(around)];
  bool wasInvalid = std::exchange(known.isInvalid, !found->why.empty());
  known.digest = after;
  if (known.isInvalid && !wasInvalid)
    recorder.finding(frame, Rule::InvalidIR, found->op, found->why);
}

void PatternChecks::findUnplaced(const Running &pattern, Recorder &recorder) {
  unsigned left = mostAlike;
  for (const OperationHandle &one : pattern.unplaced) {
    Operation *op = one.get(), *parent = op ? op->getParentOp() : nullptr;
    // Builders and clones of an operation, such as a matrix multiplication,
    // fill its regions: a pattern cannot locate these operations. A declaration
    // of a function serves several callers, and folding shares constants: both
    // have no location of their own.
    StringRef name = op ? op->getName().getStringRef() : "";
    if (parent && ids.of(parent) < pattern.frame->tally.firstId &&
        isa<UnknownLoc>(op->getLoc()) && !name.ends_with(".func") &&
        !isConstantLike(op->getName()) && left) {
      --left;
      recorder.finding(*pattern.frame, Rule::LostLocation, op, name);
    }
  }
}

void PatternChecks::findSilent(const Frame &frame, Recorder &recorder) {
  unsigned left = mostAlike;
  auto find = [&](StringRef what, uint32_t id, Operation *op, StringRef name) {
    if (left && !told.contains(id)) {
      --left;
      recorder.finding(frame, Rule::NotNotified, op,
                       what.str() + " " + name.str());
    }
  };
  for (const Snapshot *each : {&snapshot, &outer})
    for (Operation *op : each->modified())
      find("modified", ids.of(op), op, op->getName().getStringRef());
  for (const Made &one : made) {
    Operation *op = one.op.get();
    // Builders of an operation fill its regions without a listener.
    if (one.kind == ChangeKind::Inserted) {
      Operation *parent = op ? op->getParentOp() : nullptr;
      if (!parent || ids.of(parent) >= frame.tally.firstId)
        continue;
    }
    find(textOf(one.kind), one.id, op, one.name);
  }
}

//===----------------------------------------------------------------------===//
// The operations that diagnostics are about
//===----------------------------------------------------------------------===//

Operation *Diagnosed::at(Location location, Operation *root) const {
  Operation *op = last.get();
  if (op && op->getLoc() == location)
    return op;
  if (!root || isa<UnknownLoc>(location))
    return nullptr;
  Operation *found = nullptr;
  bool isOnly = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *each) {
    if (each->getLoc() != location)
      return WalkResult::advance();
    isOnly = !found;
    found = each;
    return isOnly ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isOnly ? found : nullptr;
}

/// Returns the place of that operation in a walk, from 1; 0 for none.
static int64_t placeOfRefused(Operation *root, StringRef error) {
  std::string first;
  ScopedDiagnosticHandler listen(root->getContext(), [&](Diagnostic &said) {
    if (first.empty() && said.getSeverity() == DiagnosticSeverity::Error)
      first = said.str();
    return success();
  });
  int64_t place = 0, found = 0;
  root->walk([&](Operation *op) {
    first.clear();
    ++place;
    if (succeeded(verify(op, /*verifyRecursively=*/false)) || first != error)
      return WalkResult::advance();
    found = place;
    return WalkResult::interrupt();
  });
  return found;
}

Operation *Diagnosed::refused(Operation *root, StringRef error) {
  Answer answer = answerInFork(
      [&] { return Object{{"place", placeOfRefused(root, error)}}; });
  auto *found = std::get_if<Json>(&answer);
  Object *object = found ? found->getAsObject() : nullptr;
  int64_t place = object ? object->getInteger("place").value_or(0) : 0;
  Operation *refused = nullptr;
  root->walk([&](Operation *op) {
    if (--place == 0)
      refused = op;
  });
  return refused;
}

//===----------------------------------------------------------------------===//
// Valid IR
//===----------------------------------------------------------------------===//

/// Whether a rewrite or a conversion is in progress: then the IR need not be
/// valid.
static bool isIncomplete(const Frame &frame) {
  for (const Frame *outer = frame.parent; outer; outer = outer->parent)
    if (outer->kind == Kind::Pattern || outer->isConversion())
      return true;
  return false;
}

std::string ActionVerifier::whyInvalid(Operation *op) {
  std::string why;
  Operation *broken = nullOperandIn(op);
  found = OperationHandle(broken);
  if (broken)
    return "an operand of " + broken->getName().getStringRef().str() +
           " is null";
  ScopedDiagnosticHandler listen(op->getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty()) {
      why = diagnostic.str();
      Operation *about = Diagnosed().at(diagnostic.getLocation(), op);
      found = OperationHandle(about);
    }
    return success();
  });
  if (succeeded(verify(op)))
    return "";
  if (!found.get())
    found = OperationHandle(Diagnosed::refused(op, why));
  return why.empty() ? "the verifier fails" : why;
}

std::string ActionVerifier::check(const Frame &frame) {
  const Frame *about = frame.over ? &frame : frame.parent;
  if (!about || isIncomplete(*about) || (!frame.over && isIncomplete(frame)))
    return "";
  Operation *op = scopeOf(opAround(about));
  if (!op)
    return "";
  std::string why = whyInvalid(op);
  if (why.empty()) {
    // A valid module has valid functions.
    std::erase_if(broken, [&](const Broken &one) {
      Operation *scope = one.scope.get();
      return !scope || op->isAncestor(scope);
    });
    return "";
  }
  Operation *first = scopeOf(invalid() ? invalid() : op);
  // The verifier stops at the first invalid function: others become invalid, or
  // valid again, behind it.
  std::vector<Operation *> parts = invalidIn(op);
  bool isFirstAlone = first == op || llvm::is_contained(parts, first);
  bool isNews = becomesInvalid(first, isFirstAlone);
  for (Operation *part : parts)
    if (becomesInvalid(part, /*isAlone=*/true) && !isNews) {
      why = whyInvalid(part);
      isNews = true;
    }
  return isNews ? why : "";
}

bool ActionVerifier::becomesInvalid(Operation *scope, bool isAlone) {
  for (Broken &one : broken)
    if (one.scope.get() == scope) {
      one.isAlone |= isAlone;
      return false;
    }
  broken.push_back({OperationHandle(scope), isAlone});
  return true;
}

/// Whether an operation is invalid; nobody is told why.
static bool isInvalid(Operation *op) {
  if (nullOperandIn(op))
    return true;
  ScopedDiagnosticHandler silent(op->getContext(),
                                 [](Diagnostic &) { return success(); });
  return failed(verify(op));
}

std::vector<Operation *> ActionVerifier::invalidIn(Operation *op) {
  std::vector<Operation *> found;
  op->walk([&](Operation *each) { // the inner ones first
    if (each == op || !isIsolated(each))
      return;
    if (!isInvalid(each))
      std::erase_if(broken, [&](const Broken &one) {
        return one.isAlone && one.scope.get() == each;
      });
    else if (std::ranges::none_of(found, [&](Operation *inner) {
               return each->isAncestor(inner);
             }))
      found.push_back(each);
  });
  return found;
}

} // namespace adbg
