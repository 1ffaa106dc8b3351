//===- ActionHandler.cpp - How actions reach the agent --------------------===//
//
// A handler is a std::function, whose layout depends on the tool's C++ library;
// the function that calls it has arguments of a known layout.
//
//===----------------------------------------------------------------------===//

#include "interpose/ActionHandler.h"
#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "interpose/SeenContexts.h"
#include "layout/Layout.h"
#include "layout/Proof.h"
#include "support/AgentHeap.h"
#include "support/OfInstance.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace mlir;
using namespace adbg;
using llvm::StringRef;

#define ADBG_HAS_HANDLER "_ZN4mlir11MLIRContext16hasActionHandlerEv"
#define ADBG_EXECUTE                                                           \
  "_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12function_"             \
  "refIFvvEEERKNS_7tracing6ActionE"

using HasHandler = bool(MLIRContext *);
using Execute = void(MLIRContext *, llvm::function_ref<void()>,
                     const tracing::Action &);

void adbg::handleActions(MLIRContext *context, unsigned) {
  noteContext(context);
}

bool adbg::isIRKnown() { return Layout::isDecided(); }

/// Learns the layouts from the IR of an action, until they are known.
static void learn(const tracing::Action &action) {
  if (LLVM_LIKELY(Layout::isDecided()))
    return;
  llvm::ArrayRef<IRUnit> units = action.getContextIRUnits();
  if (units.empty())
    return;
  AgentHeap agentHeap;
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(units[0]))
    Layout::calibrate(op);
}

//===----------------------------------------------------------------------===//
// Kinds of actions
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
  llvm::raw_string_ostream os(text);
  action.print(os);
  return "";
}

static std::string checkPass(const tracing::Action &action) {
  auto *known = llvm::dyn_cast<PassExecutionAction>(&action);
  if (!known)
    return "";
  const Pass &pass = known->getPass();
  std::string text;
  llvm::raw_string_ostream os(text);
  const_cast<Pass &>(pass).printAsTextualPipeline(os);
  bool hasNames = !pass.getName().empty() && isName(pass.getName()) &&
                  isName(pass.getArgument());
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

/// Leaves out what cannot be read, and says so once.
static void leaveOut(bool &isKnown, const std::string &why) {
  isKnown = false;
  llvm::errs() << "actiondbg: the patterns of this MLIR are not named: " << why
               << "\n";
}

bool adbg::arePatternsKnown(const RewritePatternSet &patterns) {
  static std::mutex &mutex = *new std::mutex;
  static ADBG_OF_INSTANCE std::atomic<bool> isProved{false};
  if (isProved || !Layout::offsets.hasPatterns)
    return isProved;
  std::lock_guard<std::mutex> lock(mutex);
  auto check = [&]() -> std::string {
    for (const std::unique_ptr<RewritePattern> &one :
         patterns.getNativePatterns())
      if (std::string why = checkPattern(*one); !why.empty())
        return why;
    return "";
  };
  uintptr_t ends[2];
  bool isVacuous = !readMemory(reinterpret_cast<const char *>(&patterns) + 8,
                               ends, sizeof(ends)) ||
                   ends[0] == ends[1];
  if (isVacuous)
    return false;
  std::string why = proveInForks({check}).front();
  isProved = why.empty();
  if (!isProved)
    leaveOut(Layout::offsets.hasPatterns, why);
  return isProved;
}

/// Proves in forks what is read of an action, for the first one of each kind.
/// Returns whether the kind is followed.
static bool provesKind(const tracing::Action &action) {
  struct Kinds {
    std::mutex mutex;
    std::unordered_map<const void *, bool> all;
  };
  static thread_local const void *last = nullptr;
  const void *id = action.getActionID().getAsOpaquePointer();
  if (LLVM_LIKELY(id == last))
    return true;
  AgentHeap agentHeap;
  static Kinds &kinds = *new Kinds;
  std::lock_guard<std::mutex> lock(kinds.mutex);
  auto [kind, isNew] = kinds.all.try_emplace(id, true);
  if (isNew) {
    auto whole = [&] { return checkAction(action); };
    auto pass = [&] { return checkPass(action); };
    auto pattern = [&]() -> std::string {
      auto *known = llvm::dyn_cast<ApplyPatternAction>(&action);
      return known ? checkPattern(known->pattern) : "";
    };
    std::vector<std::string> why = proveInForks({whole, pass, pattern});
    kind->second = why[0].empty();
    // Before its classes are asked about it here.
    if (!why[1].empty())
      Layout::offsets.hasPasses = false;
    if (!why[2].empty() && Layout::offsets.hasPatterns)
      leaveOut(Layout::offsets.hasPatterns, why[2]);
    for (const std::string &one : {why[0], why[1]})
      if (!one.empty())
        llvm::errs() << "actiondbg: a kind of actions is not followed, or not "
                        "by name: "
                     << one << "\n";
  }
  if (kind->second)
    last = id;
  return kind->second;
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

/// Returns the number of a context. A context that is older than the agent in
/// this program is observed from now on.
static unsigned numberOf(MLIRContext *context) {
  unsigned number = Contexts::all().numberOf(context);
  if (LLVM_LIKELY(number != Contexts::unknown) || !Engine::isLibrary)
    return number;
  observeContext(context);
  return Contexts::all().numberOf(context);
}

extern "C++" {

ADBG_INTERPOSE(bool, hasActionHandler, ADBG_HAS_HANDLER, MLIRContext *self) {
  static Original<HasHandler> next(ADBG_HAS_HANDLER);
  return Engine::get().isAttached() || Engine::isLibrary || next(self);
}

ADBG_INTERPOSE(void, executeAction, ADBG_EXECUTE, MLIRContext *self,
               llvm::function_ref<void()> run, const tracing::Action &action) {
  static Original<Execute> next(ADBG_EXECUTE);
  static Original<HasHandler> hasHandler(ADBG_HAS_HANDLER);
  noteContext(self);
  if (LLVM_UNLIKELY(!provesKind(action)))
    return hasHandler(self) ? next(self, run, action) : run();
  learn(action);
  runAction(numberOf(self), action, [&] {
    if (hasHandler(self))
      next(self, run, action);
    else
      run();
  });
}

} // extern "C++"
