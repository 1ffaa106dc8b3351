//===- ActionHandler.cpp - How actions reach the agent --------------------===//
//
// A handler is a std::function, whose layout depends on the tool's C++ library;
// the function that calls it has arguments of a known layout.
//
//===----------------------------------------------------------------------===//

#include "interpose/ActionHandler.h"
#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "layout/Proof.h"
#include "support/Symbols.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace adbg;

#define ADBG_HAS_HANDLER "_ZN4mlir11MLIRContext16hasActionHandlerEv"
#define ADBG_EXECUTE                                                           \
  "_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12function_"             \
  "refIFvvEEERKNS_7tracing6ActionE"

/// Learns the layouts from the IR of an action, until they are known.
static void learn(const tracing::Action &action) {
  if (LLVM_LIKELY(Layout::isDecided()))
    return;
  ArrayRef<IRUnit> units = action.getContextIRUnits();
  if (units.empty())
    return;
  AgentHeap agentHeap;
  if (auto *op = dyn_cast_if_present<Operation *>(units[0]))
    Layout::calibrate(op);
}

//===----------------------------------------------------------------------===//
// Classes of actions
//===----------------------------------------------------------------------===//

/// Whether a text can be read, and looks like a name; that of a template is
/// long.
static bool isName(StringRef text) {
  char bytes[4096];
  if (text.size() > sizeof(bytes) ||
      (!text.empty() && !readMemory(text.data(), bytes, text.size())))
    return false;
  return std::all_of(bytes, bytes + text.size(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

static std::string checkAction(const tracing::Action &action) {
  StringRef tag = action.getTag();
  if (tag.empty() || !isName(tag))
    return "its tag is no name";
  for (IRUnit unit : action.getContextIRUnits())
    if (!unit)
      return "its units of IR are not where they should be";
  std::string text;
  raw_string_ostream os(text);
  action.print(os);
  return "";
}

static std::string textOf(const tracing::Action &action) {
  std::string text;
  raw_string_ostream os(text);
  action.print(os);
  return os.str();
}

static std::string checkPass(const tracing::Action &action) {
  auto *known = dyn_cast<PassExecutionAction>(&action);
  if (!known)
    return Fact::nothingTold;
  const Pass &pass = known->getPass();
  std::string text;
  raw_string_ostream os(text);
  const_cast<Pass &>(pass).printAsTextualPipeline(os);
  bool hasNames = !pass.getName().empty() && isName(pass.getName()) &&
                  isName(pass.getArgument()) &&
                  StringRef(textOf(action)).contains(pass.getName());
  return hasNames ? "" : "the name of a pass is not where it should be";
}

static std::string checkPattern(const Pattern &pattern) {
  bool hasNames = isName(pattern.getDebugName());
  for (StringRef label : pattern.getDebugLabels())
    hasNames = hasNames && isName(label);
  if (std::optional<OperationName> root = pattern.getRootKind())
    hasNames = hasNames && !root->getStringRef().empty() &&
               isName(root->getStringRef());
  return hasNames ? "" : "the name of a pattern is not where it should be";
}

static std::string checkPatternOf(const tracing::Action &action) {
  auto *known = dyn_cast<ApplyPatternAction>(&action);
  if (!known)
    return Fact::nothingTold;
  std::string why = checkPattern(known->pattern);
  if (why.empty() &&
      !StringRef(textOf(action)).contains(known->pattern.getDebugName()))
    why = "the name of a pattern is not what its action prints";
  return why;
}

/// Whether a fact holds; says once why it does not.
static bool holds(Fact &fact, const char *loss, Fact::Check check) {
  if (fact.isRefuted())
    return false;
  bool isTrue = fact.holds(check);
  if (fact.isRefuted())
    llvm::errs() << "actiondbg: the " << loss
                 << " of this MLIR are not named: " << fact.why() << "\n";
  return isTrue;
}

bool adbg::arePatternsKnown(const RewritePatternSet &patterns) {
  if (LLVM_LIKELY(facts::patternSet.isProved()))
    return true;
  uintptr_t ends[2];
  bool isVacuous = !readMemory(reinterpret_cast<const char *>(&patterns) + 8,
                               ends, sizeof(ends)) ||
                   ends[0] == ends[1];
  if (isVacuous)
    return false;
  return holds(facts::patternSet, "patterns", [&]() -> std::string {
    for (const std::unique_ptr<RewritePattern> &one :
         patterns.getNativePatterns())
      if (std::string why = checkPattern(*one); !why.empty())
        return why;
    return "";
  });
}

/// Proves in forks that the first action of each class can be read. Returns
/// whether the class is followed.
static bool provesClass(const tracing::Action &action) {
  struct Classes {
    std::mutex mutex;
    std::unordered_map<const void *, bool> all;
  };
  static thread_local const void *last = nullptr;
  const void *table = tracing::classOf(action);
  if (LLVM_LIKELY(table == last))
    return true;
  AgentHeap agentHeap;
  static Classes &classes = *new Classes;
  std::lock_guard<std::mutex> lock(classes.mutex);
  auto [one, isNew] = classes.all.try_emplace(table, true);
  if (isNew) {
    auto check = [&] { return checkAction(action); };
    // It has the same place in the file in each process.
    Place place = Place::of(table);
    std::string fact = place.isKnown() ? place.offsetOf(table) : "";
    std::string why =
        proveInForks({{fact.empty() ? nullptr : fact.c_str(), check}}).front();
    one->second = why.empty();
    if (!why.empty())
      llvm::errs() << "actiondbg: a kind of actions is not followed: " << why
                   << "\n";
    else if (isa<PassExecutionAction>(&action))
      holds(facts::passOfAction, "passes", [&] { return checkPass(action); });
    else if (isa<ApplyPatternAction>(&action))
      holds(facts::patternOfAction, "patterns",
            [&] { return checkPatternOf(action); });
  }
  if (one->second)
    last = table;
  return one->second;
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

/// Returns the number of a context. A context that is older than the agent in
/// this program, or than this fork, is observed from now on.
static unsigned numberOf(MLIRContext *context) {
  unsigned number = Contexts::all().numberOf(context);
  bool isOld = number == Contexts::unknown && Engine::isLibrary;
  if (LLVM_LIKELY(!isOld && !Engine::isForked))
    return number;
  observeContext(context);
  return Contexts::all().numberOf(context);
}

ADBG_INTERPOSE(bool, hasActionHandler, ADBG_HAS_HANDLER, MLIRContext *self) {
  return Engine::get().isAttached() || Engine::isLibrary || Engine::isForked ||
         next(self);
}

ADBG_INTERPOSE(void, executeAction, ADBG_EXECUTE, MLIRContext *self,
               function_ref<void()> run, const tracing::Action &action) {
  hasActionHandlerNext hasHandler;
  Contexts::note(self);
  if (LLVM_UNLIKELY(!provesClass(action)))
    return hasHandler(self) ? next(self, run, action) : run();
  learn(action);
  runAction(numberOf(self), action, [&] {
    if (hasHandler(self))
      next(self, run, action);
    else
      run();
  });
}
