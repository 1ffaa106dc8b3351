#include "engine/Frame.h"
#include "observe/PatternNames.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

namespace adbg {

static Kind kindOf(const tracing::Action &action) {
  if (isa<ApplyPatternAction>(&action))
    return Kind::Pattern;
  if (isa<PassExecutionAction>(&action))
    return Kind::Pass;
  // The classes of these actions are private to their drivers.
  StringRef tag = action.getTag();
  if (tag == "GreedyPatternRewriteIteration")
    return Kind::Iteration;
  return tag == "apply-conversion" ? Kind::Conversion : Kind::Other;
}

Frame::Frame(const tracing::Action &action)
    : action(&action), units(action.getContextIRUnits()), kind(kindOf(action)),
      isUnheard(kind == Kind::Pattern && !hearsReasons) {}

// Never destroyed: the tool may dispatch in static destructors.
const Rare &Frame::none = *new Rare;
ADBG_OF_INSTANCE bool Frame::seesChanges = true;
thread_local bool Frame::hearsReasons = false;

StringRef Frame::tag() const {
  if (kind == Kind::None)
    return "";
  if (action)
    return action->getTag();
  return kind == Kind::Fold ? "fold" : "transform-op";
}

StringRef nameFrom(const void *key) {
  return StringAttr::getFromOpaquePointer(key).getValue();
}

const Pattern *Frame::pattern() const {
  // The member is private; the agent is compiled with -fno-access-control.
  return kind == Kind::Pattern
             ? &static_cast<const ApplyPatternAction *>(action)->pattern
             : nullptr;
}

const Pass *Frame::pass() const {
  return kind == Kind::Pass
             ? &static_cast<const PassExecutionAction *>(action)->getPass()
             : nullptr;
}

StringRef Frame::passName() const {
  StringRef argument = pass()->getArgument();
  return argument.empty() ? pass()->getName() : argument;
}

std::string Frame::text() const {
  if (action)
    return printed(*action);
  return nameKey ? tag().str() + " " + fullName() : "";
}

std::string Frame::fullName() const {
  if (const Pattern *p = pattern())
    return nameOf(*p).str();
  if (kind == Kind::Pass)
    return passName().str();
  if (kind == Kind::None)
    return "";
  if (nameKey)
    return nameFrom(nameKey).str();
  // An action with an unknown tag: its printed text, unless that is only the
  // tag.
  std::string printed = text();
  if (printed == tag() || StringRef(printed).starts_with("Action \""))
    return "";
  return printed;
}

bool Frame::isAdaptor() const {
  return kind == Kind::Pass && pass()->getName().ends_with("OpToOpPassAdaptor");
}

std::string Frame::name() const {
  if (isGreedyIteration())
    return "iteration " + std::to_string(iteration());
  return withoutAnonymous(fullName());
}

StringRef Frame::unnamed() const {
  const Pattern *p = pattern();
  if (!p || LLVM_LIKELY(!p->getDebugName().empty()))
    return "";
  return foundNameOf(*p).unnamed;
}

StringRef Frame::shortName() const {
  // Most actions are patterns, and they have few names.
  static thread_local Memo<std::string> names;
  if (const Pattern *p = pattern())
    return names.get(nameOf(*p), [this] { return name(); });
  std::optional<std::string> &made = needRare().name;
  if (!made)
    made = name();
  return *made;
}

StringRef Frame::function() const {
  if (!hasFunction)
    functionName = symbolAround(op());
  hasFunction = true;
  return functionName ? functionName.getValue() : StringRef();
}

ArrayRef<StringRef> Frame::labels() const {
  if (const Pattern *p = pattern())
    return p->getDebugLabels();
  return {};
}

int64_t Frame::iteration() const {
  for (const Frame *frame = this; frame; frame = frame->parent) {
    if (!frame->isGreedyIteration())
      continue;
    // The printed text is "TAG(N)".
    std::string printed = frame->text();
    StringRef digits = StringRef(printed).split('(').second;
    int64_t iteration = -1;
    if (!digits.consumeInteger(10, iteration))
      return iteration;
  }
  return -1;
}

const Frame *Frame::passAround() const {
  const Frame *frame = this;
  while (frame && !frame->isRealPass())
    frame = frame->parent;
  return frame;
}

Operation *Frame::payload() const {
  if (const Frame *pass = passAround())
    return pass->op();
  return rootOf(op());
}

const ErasedUnit *Frame::erasedUnit(size_t index) const {
  for (const ErasedUnit &one : rare().erased)
    if (one.unit == index)
      return &one;
  return nullptr;
}

Operation *Frame::opOfUnit(size_t index) const {
  if (const ErasedUnit *erased = erasedUnit(index))
    return erased->by;
  return holderOf(units[index]);
}

std::string withoutAnonymous(StringRef name) {
  std::string result;
  while (!name.empty()) {
    if (name.consume_front("(anonymous namespace)::") ||
        name.consume_front("{anonymous}::"))
      continue;
    result += name.front();
    name = name.drop_front();
  }
  return result;
}

StringRef lastComponent(StringRef name) {
  int nesting = 0;
  size_t start = 0, last = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<')
      ++nesting;
    else if (name[i] == '>')
      --nesting;
    else if (nesting == 0 && name.substr(i).starts_with("::"))
      last = std::exchange(start, i + 2);
  }
  // Many operations have a function of this name, and a pass has it too.
  if (name.substr(start) == "canonicalize")
    start = last;
  return name.substr(start);
}

Operation *opAround(const Frame *frame) {
  while (frame && !frame->op())
    frame = frame->parent;
  return frame ? frame->op() : nullptr;
}

Operation *holderOfOther(const IRUnit &unit) {
  if (auto *region = dyn_cast_if_present<Region *>(unit))
    return region->getParentOp();
  if (auto *block = dyn_cast_if_present<Block *>(unit))
    return block->getParentOp();
  auto value = dyn_cast_if_present<Value>(unit);
  if (!value)
    return nullptr;
  if (Operation *op = value.getDefiningOp())
    return op;
  return cast<BlockArgument>(value).getOwner()->getParentOp();
}

StringAttr symbolAttr(Operation *op) {
  return op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
}

StringRef symbolName(Operation *op) {
  StringAttr name = symbolAttr(op);
  return name ? name.getValue() : StringRef();
}

/// Cached by operation name, because it is needed for each operation around
/// each action.
bool mayBeFunctionByName(Operation *op) {
  static thread_local KeyMemo<bool> known;
  OperationName name = op->getName();
  return known.get(nameKeyOf(op), [&] {
    return !isSymbolTable(op) &&
           (!name.isRegistered() || name.hasInterface<SymbolOpInterface>());
  });
}

static std::pair<Operation *, StringAttr> findFunction(Operation *op) {
  for (; op; op = op->getParentOp())
    if (mayBeFunction(op))
      if (StringAttr name = symbolAttr(op); name && !name.empty())
        return {op, name};
  return {};
}

Operation *functionAround(Operation *op) { return findFunction(op).first; }

StringAttr symbolAround(Operation *op) { return findFunction(op).second; }

//===----------------------------------------------------------------------===//
// Outcomes
//===----------------------------------------------------------------------===//

StringRef textOf(Result result) {
  static const char *const texts[] = {"succeeded", "unchanged", "failed",
                                      "skipped"};
  return texts[static_cast<unsigned>(result)];
}

StringRef textOf(Found found) {
  static const char *const texts[] = {"", "in-place", "constants", "values",
                                      "constants and values"};
  return texts[static_cast<unsigned>(found)];
}

bool Frame::changedItself() const {
  if (kind == Kind::Fold || !changed())
    return changed();
  return tally.ownNet > 0;
}

} // namespace adbg
