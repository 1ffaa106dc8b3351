#include "observe/RunTrace.h"
#include "engine/Describe.h"

namespace adbg {

static constexpr StringRef endText = "the end of the tool";

Json toJSON(const Difference &difference) {
  return Object{{"ordinal", int64_t(difference.ordinal)},
                {"run", difference.run},
                {"replay", difference.replay}};
}

//===----------------------------------------------------------------------===//
// The processes of the run
//===----------------------------------------------------------------------===//

void RunTrace::begin() {
  void *taken = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (taken == MAP_FAILED)
    return;
  shared = static_cast<Shared *>(taken);
  use = Use::Write;
  isComplete = true;
}

void RunTrace::forked(bool compares) {
  isComplete = isComplete && use == Use::Write;
  if (use == Use::Write)
    found.reset();
  use = compares && shared && !found ? Use::Compare : Use::None;
}

void RunTrace::becomeRun(uint64_t ordinal) {
  if (!shared)
    return;
  // What it did before is known only if it has compared it.
  if (use == Use::None && !isComplete)
    shared->first = ordinal + 1;
  // Actions of another timeline may be in the place of older ones.
  uint64_t lost = newest() > kept ? newest() - kept : 0;
  if (use == Use::None)
    shared->first = std::max(shared->first, std::min(lost, ordinal) + 1);
  shared->reached = use == Use::Compare ? newest() : 0;
  use = Use::Write;
  isComplete = true;
  found.reset();
  shared->count = ordinal;
  shared->isOver = false;
}

void RunTrace::end(uint64_t ordinal) {
  bool isShorter = use == Use::Write
                       ? ordinal < shared->reached && isKept(ordinal + 1)
                   : use == Use::Compare ? holds(ordinal + 1)
                                         : false;
  if (use == Use::Write)
    shared->isOver = true;
  if (found || !isShorter)
    return;
  readNames();
  found = {ordinal + 1, textOf(at(ordinal + 1)), endText.str()};
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// The operation is described apart from it.
static std::string textOf(const Frame &frame) {
  switch (frame.kind) {
  case Kind::Pattern:
  case Kind::Pass:
    return frame.tag() + " " + frame.name();
  default:
    return frame.tag().str();
  }
}

static std::string withOperation(std::string text, StringRef op, uint32_t id) {
  if (!op.empty())
    text += " on " + op;
  if (id)
    text += " @" + std::to_string(id);
  return text;
}

void RunTrace::compare(const Frame &frame) {
  bool isMore = shared->isOver && frame.ordinal == shared->count + 1;
  if (!isMore && !holds(frame.ordinal))
    return;
  Entry own = entryOf(frame);
  if (!isMore && own == at(frame.ordinal))
    return;
  readNames();
  differ(frame, own, isMore ? endText.str() : textOf(at(frame.ordinal)));
  use = Use::None;
}

bool RunTrace::compareAgain(const Frame &frame) {
  if (!isKept(frame.ordinal))
    return false;
  Entry own = entryOf(frame);
  if (own == at(frame.ordinal))
    return true;
  differ(frame, own, textOf(at(frame.ordinal)));
  shared->reached = 0;
  return true;
}

void RunTrace::differ(const Frame &frame, const Entry &own, std::string run) {
  Operation *op = frame.firstOp();
  found = {frame.ordinal, std::move(run),
           withOperation(adbg::textOf(frame),
                         op ? op->getName().getStringRef() : "", own.id)};
}

std::string RunTrace::textOf(const Entry &entry) const {
  return withOperation(texts[entry.name].str(), texts[entry.op], entry.id);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

uint16_t RunTrace::nameOf(const Frame &frame) {
  auto number = [&] { return numberOf(adbg::textOf(frame)); };
  switch (frame.kind) {
  case Kind::Fold:
    return fold ? fold : fold = number();
  case Kind::Pattern:
    return patterns.get(adbg::nameOf(*frame.pattern()), number);
  default:
    return number();
  }
}

uint16_t RunTrace::nameOf(Operation *op) {
  return operations.get(nameKeyOf(op),
                        [&] { return numberOf(op->getName().getStringRef()); });
}

uint16_t RunTrace::numberOf(StringRef text) {
  readNames();
  auto entry = numbers.find(text);
  if (entry != numbers.end())
    return entry->second;
  size_t room = sizeof(shared->names) - shared->nameBytes;
  if (use != Use::Write || text.size() >= room || texts.size() > UINT16_MAX)
    return 0;
  memcpy(shared->names + shared->nameBytes, text.data(), text.size());
  shared->nameBytes += text.size() + 1;
  readNames();
  return texts.size() - 1;
}

void RunTrace::readNames() {
  while (readBytes < shared->nameBytes) {
    StringRef text = shared->names + readBytes;
    numbers.try_emplace(text.str(), texts.size());
    texts.push_back(text);
    readBytes += text.size() + 1;
  }
}

} // namespace adbg
