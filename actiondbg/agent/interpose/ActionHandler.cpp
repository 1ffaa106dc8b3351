//===- ActionHandler.cpp - How actions reach the agent --------------------===//
//
// A handler is a std::function, whose layout depends on the tool's C++ library;
// the function that calls it has arguments of a known layout.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "layout/Proof.h"
#include "support/Symbols.h"
#include "support/Without.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace adbg;

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
  (void)printed(action);
  return "";
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
                  StringRef(printed(action)).contains(pass.getName());
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
      !StringRef(printed(action)).contains(known->pattern.getDebugName()))
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
  Frame frame(action);
  frame.contextNumber = numberOf(self);
  runAction(frame, [&] {
    if (hasHandler(self))
      next(self, run, action);
    else
      run();
  });
}

//===----------------------------------------------------------------------===//
// What listeners are told
//===----------------------------------------------------------------------===//

namespace adbg {

namespace {
/// Until LLVM 18 it returned whether the match succeeded.
using Notify = uintptr_t(void *, Location, function_ref<void(Diagnostic &)>);
/// Of an operation, and for an insertion the block and the place before: two
/// words, which are passed in registers.
using NotifyOperation = void(void *, Operation *, void *, void *);

/// The order of the virtual functions of RewriterBase::Listener is the same in
/// LLVM 19 to 24; a table with a function in another slot refutes it.
constexpr unsigned before = 2, inserted = 2, modified = 5, erased = 8,
                   patternBegin = 9, matchFailure = 11, most = 64;

/// A copy of a virtual table; the words before it are the offset of the object
/// and its type information.
struct CopiedTable {
  const void *words[before + most];
  Notify *original = nullptr;
  /// The functions, by place, whose operations the checks of patterns get.
  NotifyOperation *operations[patternBegin] = {};
  const void *table() const { return words + before; }
};

/// The first members of a rewriter, from its virtual table to the block in
/// which it inserts.
struct RewriterLayout {
  const void *table;
  const void *context;
  struct Listener *listener;
  const void *block;
};
enum class ListenerKind : int { OfBuilder = 0, OfRewriter = 1 };
struct Listener {
  const void *table;
  ListenerKind kind;
};
} // namespace

static ADBG_OF_INSTANCE std::atomic<bool> isUnknown{false};

/// Whether a table has a function of the tool's class in another place than
/// expected. One that a listener overrides is in none; one in several places is
/// several empty functions, of which a linker has made one.
static bool isElsewhere(const CopiedTable &copy, void (*function)(void *),
                        unsigned place) {
  const void *const *begin = copy.words + before;
  // The table ends before the offset of the next one, which mostly is zero.
  auto *end = std::find(begin, begin + matchFailure + 10, nullptr);
  auto *wanted = reinterpret_cast<const void *>(function);
  return function && begin[place] != wanted &&
         std::count(begin, end, wanted) == 1;
}

bool ReasonListener::isKnown() { return !isUnknown; }

/// Whether a location is one: told by the name of its class, which is read once
/// for each class.
static bool isLocation(Location location) {
  static thread_local KeyMemo<bool> known;
  auto *storage =
      static_cast<const AttributeStorage *>(location.getAsOpaquePointer());
  if (!storage || reinterpret_cast<uintptr_t>(storage) % sizeof(void *))
    return false;
  uint32_t offset = Layout::offsets.className;
  return !offset || known.get(storage->abstract, [&] {
    char text[200];
    StringRef name;
    auto *place = reinterpret_cast<const char *>(storage->abstract) + offset;
    return readMemory(place, &name, sizeof(name)) &&
           name.size() < sizeof(text) &&
           readMemory(name.data(), text, name.size()) &&
           (name.ends_with("_loc") || name.ends_with("_range"));
  });
}

/// Gives the engine a reason why a pattern does not match.
static void noteReason(Location location,
                       function_ref<void(Diagnostic &)> reasonOf) {
  Engine &engine = Engine::get();
  if (!engine.follows())
    return;
  AgentHeap agentHeap;
  auto check = [&] {
    Diagnostic diagnostic(location, DiagnosticSeverity::Remark);
    reasonOf(diagnostic);
    return diagnostic.check();
  };
  if (LLVM_UNLIKELY(!facts::madeDiagnostic.holds(check))) {
    if (facts::madeDiagnostic.isRefuted())
      isUnknown = true;
    return;
  }
  Frame *frame = engine.innermost;
  while (frame && frame->kind != adbg::Kind::Pattern)
    frame = frame->parent;
  bool isTraced = engine.legalizations.isTracing();
  bool isWanted = frame && frame->wantsReasons;
  if (!isTraced && !isWanted)
    return;
  Diagnostic diagnostic(location, DiagnosticSeverity::Remark);
  reasonOf(diagnostic);
  if (isTraced)
    engine.legalizations.gaveReason(diagnostic);
  if (isWanted)
    engine.reason(*frame, diagnostic);
}

/// Gives the checks of patterns an operation whose change a listener is told.
static void noteHeard(Operation *op) {
  Engine &engine = Engine::get();
  if (!engine.follows() || !engine.observer.checks.isChecking())
    return;
  AgentHeap agentHeap;
  engine.observer.checks.heard(op);
}

/// Returns the copy that a listener has.
static const CopiedTable &copyOf(const void *listener) {
  const auto *table = static_cast<const Listener *>(listener)->table;
  return *reinterpret_cast<const CopiedTable *>(
      static_cast<const void *const *>(table) - before);
}

static uintptr_t notify(void *self, Location location,
                        function_ref<void(Diagnostic &)> reasonOf) {
  uintptr_t result = copyOf(self).original(self, location, reasonOf);
  if (LLVM_LIKELY(isLocation(location)))
    noteReason(location, reasonOf);
  else
    isUnknown = true;
  return result;
}

template <unsigned place>
static void notifyOperation(void *self, Operation *op, void *block,
                            void *point) {
  const CopiedTable &copy = copyOf(self);
  noteHeard(op);
  copy.operations[place](self, op, block, point);
}

/// Lets the checks of patterns hear what a listener is told at one place.
template <unsigned place> static void hear(CopiedTable &copy) {
  const void *&word = copy.words[before + place];
  copy.operations[place] =
      reinterpret_cast<NotifyOperation *>(reinterpret_cast<uintptr_t>(word));
  word = reinterpret_cast<const void *>(&notifyOperation<place>);
}

/// Whether a listener has fewer functions, as before LLVM 19; in other builds
/// the function may be there and not exported.
static bool isOld() {
  return tool::matchAndRewriteTo19 && !tool::notifyPatternBegin;
}

/// Reads the table as far as there is memory: its size is unknown.
static CopiedTable *copied(const void *table) {
  auto *copy = new CopiedTable();
  const void *from = static_cast<const void *const *>(table) - before;
  struct iovec target{static_cast<void *>(copy->words), sizeof(copy->words)};
  struct iovec source{const_cast<void *>(from), sizeof(copy->words)};
  ssize_t size = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
  constexpr ssize_t least = (before + matchFailure + 1) * sizeof(void *);
  if (size < least) {
    // The call may be forbidden in a container; what is needed is there.
    memcpy(static_cast<void *>(copy->words), from, least);
  }
  if (isOld() || isElsewhere(*copy, &tool::notifyPatternBegin, patternBegin) ||
      isElsewhere(*copy, &tool::notifyMatchFailure, matchFailure))
    isUnknown = true;
  copy->original = reinterpret_cast<Notify *>(
      reinterpret_cast<uintptr_t>(copy->words[before + matchFailure]));
  copy->words[before + matchFailure] = reinterpret_cast<const void *>(&notify);
  if (PatternChecks::areOn) {
    hear<inserted>(*copy);
    hear<modified>(*copy);
    hear<erased>(*copy);
  }
  return copy;
}

/// Returns the copy of a table. Copies are never freed: there are few classes
/// of listeners.
static const CopiedTable *copyFor(const void *table) {
  static thread_local const void *lastTable = nullptr;
  static thread_local const CopiedTable *lastCopy = nullptr;
  if (LLVM_LIKELY(table == lastTable))
    return lastCopy;
  static std::mutex &mutex = *new std::mutex;
  static auto &copies = *new std::unordered_map<const void *, CopiedTable *>;
  std::lock_guard<std::mutex> lock(mutex);
  CopiedTable *&copy = copies[table];
  if (!copy)
    copy = copied(table);
  lastTable = table;
  lastCopy = copy;
  return copy;
}

/// The words of `own` below: functions of listeners return nothing, or failure.
static uintptr_t ignore() { return 0; }

static uintptr_t notifyOwn(void *, Location location,
                           function_ref<void(Diagnostic &)> reasonOf) {
  if (LLVM_LIKELY(isLocation(location)))
    noteReason(location, reasonOf);
  else
    isUnknown = true;
  return 0;
}

/// The listener of rewriters that have none, as those of walks: without one,
/// nobody is told why a pattern fails.
static Listener *own() {
  static Listener *listener = [] {
    auto *table = new CopiedTable();
    std::fill(std::begin(table->words), std::end(table->words),
              reinterpret_cast<const void *>(&ignore));
    table->words[before + matchFailure] =
        reinterpret_cast<const void *>(&notifyOwn);
    return new Listener{table->table(), ListenerKind::OfRewriter};
  }();
  return listener;
}

/// Whether a listener already tells reasons: a conversion applies patterns
/// inside of patterns with one listener.
static bool isHeard(const Listener &one) {
  auto *told = static_cast<const void *const *>(one.table)[matchFailure];
  return told == reinterpret_cast<const void *>(&notify) ||
         told == reinterpret_cast<const void *>(&notifyOwn);
}

ReasonListener::ReasonListener(PatternRewriter &rewriter, Operation *op)
    : wasHearing(PatternChecks::isHearing), wereHeard(Frame::hearsReasons) {
  Frame::hearsReasons = false;
  auto &layout = reinterpret_cast<RewriterLayout &>(rewriter);
  static const bool isWanted = !isSwitchedOff("reasons");
  if (LLVM_UNLIKELY(!isWanted))
    return;
  if (LLVM_UNLIKELY(isUnknown || !Contexts::has(layout.context))) {
    isUnknown = true;
    return;
  }
  Listener *one = layout.listener;
  if (!one) {
    // A first rewriter inserts nowhere yet, or at the operation: this proves
    // that the block is where it is expected, behind the listener.
    static ADBG_OF_INSTANCE bool isProved = false;
    isProved |= !layout.block || layout.block == op->getBlock();
    if (!isProved || isOld())
      return;
    PatternChecks::isHearing = false;
    Frame::hearsReasons = true;
    lacking = reinterpret_cast<void **>(&layout.listener);
    *lacking = own();
    return;
  }
  if (one->kind != ListenerKind::OfRewriter)
    return;
  if (isHeard(*one)) {
    Frame::hearsReasons = true;
    return;
  }
  const CopiedTable *copy = copyFor(one->table);
  if (LLVM_UNLIKELY(isUnknown))
    return;
  listener = one;
  table = one->table;
  one->table = copy->table();
  PatternChecks::isHearing = Frame::hearsReasons = true;
}

ReasonListener::~ReasonListener() {
  if (lacking && *lacking == own())
    *lacking = nullptr;
  if (listener)
    static_cast<Listener *>(listener)->table = table;
  PatternChecks::isHearing = wasHearing;
  Frame::hearsReasons = wereHeard;
}

} // namespace adbg
