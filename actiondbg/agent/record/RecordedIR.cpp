#include "record/RecordedIR.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/InputNames.h"
#include "print/ValueKeys.h"

#include "mlir/IR/AsmState.h"

namespace adbg {

/// Returns the zlib-compressed text; empty where no zlib can be loaded.
static std::string compressed(StringRef text) {
  using Bound = unsigned long(unsigned long);
  using Compress =
      int(char *, unsigned long *, const char *, unsigned long, int);
  static void *zlib = dlopen("libz.so.1", RTLD_LAZY | RTLD_LOCAL);
  static auto *bound =
      zlib ? reinterpret_cast<Bound *>(dlsym(zlib, "compressBound")) : nullptr;
  static auto *compress =
      zlib ? reinterpret_cast<Compress *>(dlsym(zlib, "compress2")) : nullptr;
  if (!bound || !compress)
    return "";
  std::string packed(bound(text.size()), 0);
  unsigned long size = packed.size();
  if (compress(packed.data(), &size, text.data(), text.size(), /*level=*/1))
    return "";
  packed.resize(size);
  return packed;
}

uint64_t Texts::of(StringRef text) {
  if (text.empty())
    return 0;
  // Positive as a signed number, too; 0 is no text.
  uint64_t hash = (llvm::xxh3_64bits(text) >> 1) | 1;
  if (known.size() >= most)
    known.clear();
  if (!known.insert(hash).second)
    return hash;
  std::string packed = text.size() > 128 ? compressed(text) : std::string();
  bool isPacked = !packed.empty();
  struct {
    uint64_t hash;
    uint32_t size, stored, codec, unused;
  } item = {hash, static_cast<uint32_t>(text.size()),
            static_cast<uint32_t>(isPacked ? packed.size() : text.size()),
            isPacked, 0};
  section.add(item);
  section.append(isPacked ? packed.data() : text.data(), item.stored);
  section.pad(8);
  return hash;
}

void IRKeeper::add(uint64_t ordinal, uint32_t id, uint64_t before,
                   uint64_t after) {
  if (before != after)
    rows.add({static_cast<uint32_t>(ordinal - 1), id, before, after});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Ordinals Ordinals::of(StringRef text) {
  Ordinals range;
  auto [first, last] = text.split('-');
  first.getAsInteger(10, range.first);
  last.getAsInteger(10, range.last);
  return range;
}

namespace {
/// Records the functions around each change: of all actions, or of passes only.
class FunctionKeeper : public IRKeeper {
public:
  FunctionKeeper(bool onlyPasses, Ordinals of, Sections &sections)
      : IRKeeper(sections), onlyPasses(onlyPasses), kept(of),
        // Around every action of a run they would take more time than it does.
        most(onlyPasses || !of.areAll() ? mostElements : fewElements) {}

  void begin(const Frame &frame) override {
    finishFold();
    Operation *printed = std::exchange(afterPass, nullptr);
    if (!keeps(frame)) {
      stack.emplace_back();
      return;
    }
    // A pass may have changed IR without a notification.
    bool isSure = frame.kind != Kind::Pass || frame.isAdaptor() ||
                  (frame.op() && frame.op() == printed &&
                   digest(printed) == digestAfterPass);
    stack.push_back(open(frame.op(), frame.conversion, isSure));
  }

  void end(const Frame &frame) override {
    finishFold();
    afterPass = nullptr;
    Open action = stack.back();
    stack.pop_back();
    if (!frame.changed() || !isAlive(action.scope, action.id))
      return;
    if (frame.kind == Kind::Fold && frame.found != Found::InPlace) {
      pendingFold = {frame.ordinal, action};
      return;
    }
    known[action.scope].isStale = true;
    Open now = open(action.scope, action.isIncomplete, /*isSure=*/true);
    add(frame.ordinal, action.id, action.before, now.before);
    if (frame.kind == Kind::Pass) {
      afterPass = action.scope;
      digestAfterPass = digest(afterPass);
    }
  }

  void change(const Changed &change) override {
    Operation *around = functionAround(change.op);
    auto it = known.find(around ? around : change.op);
    if (it != known.end())
      it->second.isStale = true;
  }

private:
  struct Open {
    Operation *scope = nullptr;
    uint32_t id = 0;
    uint64_t before = 0;
    /// Whether it runs in a conversion, so that both texts are generic.
    bool isIncomplete = false;
  };
  struct Known {
    uint32_t id = 0;
    uint64_t text = 0;
    bool isIncomplete = false;
    bool isStale = false;
  };
  /// A fold whose result its caller applies after it.
  struct PendingFold {
    uint64_t ordinal = 0;
    Open action;
  };

  /// Returns the key of the text and, behind a null character, of the list of
  /// its values.
  /// `isIncomplete`: a conversion is in progress, so the IR need not verify.
  uint64_t print(Operation *scope, bool isIncomplete) {
    OpPrintingFlags flags;
    flags.useLocalScope().elideLargeElementsAttrs(most);
    if (isIncomplete || nullOperandIn(scope))
      flags.assumeVerified().printGenericOpForm();
    std::string text;
    raw_string_ostream os(text);
    Silence silence; // drops the verifier's diagnostics
    AsmState state(scope, flags);
    scope->print(os, state);
    os << '\n';
    if (isSmall(scope, mostListed)) {
      os << '\0';
      writePrintedNames(scope, scope, state, os, /*ofInput=*/false);
    }
    return texts.of(text);
  }

  /// Returns the function around an operation, as it is now.
  Open open(Operation *op, bool isIncomplete, bool isSure) {
    Open action;
    if (!op)
      return action;
    Operation *around = functionAround(op);
    action.scope = around ? around : op;
    action.id = ids.of(action.scope);
    action.isIncomplete = isIncomplete;
    Known &scope = known[action.scope];
    if (scope.id != action.id || scope.isIncomplete != isIncomplete ||
        scope.isStale || !isSure)
      scope = {action.id, print(action.scope, isIncomplete), isIncomplete};
    action.before = scope.text;
    return action;
  }

  /// Records the IR after the previous fold, which its caller has applied by
  /// now.
  void finishFold() {
    PendingFold fold = std::exchange(pendingFold, PendingFold());
    if (!fold.ordinal || !isAlive(fold.action.scope, fold.action.id))
      return;
    Open now =
        open(fold.action.scope, fold.action.isIncomplete, /*isSure=*/true);
    add(fold.ordinal, now.id, fold.action.before, now.before);
  }

  bool keeps(const Frame &frame) const {
    return kept.contains(frame.ordinal) &&
           (!onlyPasses || frame.kind == Kind::Pass);
  }

  const bool onlyPasses;
  const Ordinals kept;
  const int64_t most;
  std::vector<Open> stack;
  std::unordered_map<Operation *, Known> known;
  PendingFold pendingFold;
  /// The operation whose text is that after the pass that has just ended, and
  /// its digest then: a tool may change it before the next pass. Null after
  /// anything else.
  Operation *afterPass = nullptr;
  uint64_t digestAfterPass = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the name of the input, unless another value may have it: this one
/// has come from another function.
static StringRef givenName(Operation *around,
                           const std::optional<InputNames::Named> &given) {
  bool isThere = given && around && given->scope == ids.of(scopeOf(around));
  return isThere ? given->name : StringRef();
}

/// Returns the name of the input that a result and those behind it share; empty
/// if none begins there.
static StringRef givenName(Operation *op, unsigned at) {
  return givenName(op->getParentOp(), InputNames::all().of(ids.of(op), 0, at));
}

/// Returns the end of the results that share the name of result `first`.
static unsigned endOfGroup(Operation *op, unsigned first) {
  unsigned end = first + 1;
  while (end < op->getNumResults() && givenName(op, end).empty())
    ++end;
  return end;
}

namespace {
/// Records each changed operation in one line: the cost does not depend on the
/// size of the function. Values have the names of the input, others the ids of
/// their operations, `@12#1`, or of those around their blocks, `@9.arg0`.
class OperationKeeper : public IRKeeper {
public:
  using IRKeeper::IRKeeper;

  void begin(const Frame &frame) override {
    if (stack.size() == depth)
      stack.emplace_back();
    Open &action = stack[depth++];
    action.ordinal = frame.ordinal;
    action.touched.clear();
    if (!action.ids.empty())
      action.ids = {};
    // Another thread may have changed it since this thread last visited it.
    if (frame.isRealPass() && frame.op())
      recordLines(frame.op(), /*anew=*/!frame.parent);
  }

  void end(const Frame &frame) override {
    Open &action = stack[--depth];
    for (Touched &one : action.touched) {
      bool isThere = isAlive(one.op, one.id);
      uint64_t after = isThere ? textOf(one.op) : 0;
      if (isThere)
        lines[one.id] = after;
      add(frame.ordinal, one.id, one.before, after);
    }
  }

  void change(const Changed &change) override {
    if (change.isBlock() || !depth)
      return;
    Open &action = stack[depth - 1];
    bool isLate = change.ordinal != action.ordinal;
    if (isLate)
      addToPreviousFold(change);
    else if (action.touched.size() < most &&
             action.ids.insert(change.id).second)
      action.touched.push_back(
          {change.op, change.id, valueOf(lines, change.id)});
    if (change.isGone)
      lines.erase(change.id);
  }

private:
  struct Touched {
    Operation *op;
    uint32_t id;
    uint64_t before;
  };
  struct Open {
    uint64_t ordinal = 0;
    std::vector<Touched> touched;
    /// Their ids: a pass may touch any number, and each more than once.
    std::unordered_set<uint32_t> ids;
  };
  static constexpr size_t most = 4096;

  std::string lineOf(Operation *op) const {
    std::string text;
    raw_string_ostream os(text);
    writeResults(os, op);
    os << op->getName().getStringRef();
    llvm::interleaveComma(op->getOperands(), os << '(',
                          [&](Value value) { writeName(os, value); });
    os << ')';
    if (Attribute properties = op->getPropertiesAsAttribute())
      os << " <" << properties << '>';
    if (!op->getDiscardableAttrDictionary().empty())
      os << ' ' << op->getDiscardableAttrDictionary();
    if (op->getNumRegions())
      os << " (" << op->getNumRegions()
         << (op->getNumRegions() == 1 ? " region)" : " regions)");
    os << " : (";
    llvm::interleaveComma(op->getOperands(), os, [&](Value value) {
      if (value)
        os << value.getType();
    });
    llvm::interleaveComma(op->getResultTypes(), os << ") -> (",
                          [&](Type type) { os << type; });
    os << ')';
    return text;
  }

  /// Writes the name of the results from `first` on that share one.
  static void writeGroup(raw_ostream &os, Operation *op, unsigned first) {
    StringRef given = givenName(op, first);
    if (given.empty())
      os << '@' << ids.of(op);
    else
      os << given;
  }

  void writeName(raw_ostream &os, Value value) const {
    if (!value) {
      os << "<null>";
      return;
    }
    auto result = dyn_cast<OpResult>(value);
    if (!result) {
      auto argument = cast<BlockArgument>(value);
      Block *block = argument.getOwner();
      Operation *holder = block->getParentOp();
      StringRef given = givenName(
          holder, InputNames::all().of(0, BlockKeys::all().numberOf(block),
                                       argument.getArgNumber()));
      if (!given.empty())
        os << given;
      else
        os << '@' << (holder ? ids.of(holder) : 0) << ".arg"
           << argument.getArgNumber();
      return;
    }
    Operation *op = result.getOwner();
    unsigned first = result.getResultNumber();
    while (first && givenName(op, first).empty())
      --first;
    writeGroup(os, op, first);
    if (endOfGroup(op, first) - first > 1)
      os << '#' << result.getResultNumber() - first;
  }

  void writeResults(raw_ostream &os, Operation *op) const {
    for (unsigned at = 0, end; at < op->getNumResults(); at = end) {
      end = endOfGroup(op, at);
      writeGroup(os << (at ? ", " : ""), op, at);
      if (end - at > 1)
        os << ':' << end - at;
    }
    if (op->getNumResults())
      os << " = ";
  }
  uint64_t textOf(Operation *op) { return texts.of(lineOf(op)); }

  /// Stores the lines of the operations in `root`, of all or only of new ones.
  void recordLines(Operation *root, bool anew) {
    root->walk([&](Operation *op) {
      uint64_t &line = lines[ids.of(op)];
      if (anew || !line)
        line = textOf(op);
    });
  }

  /// Adds a change to the previous fold: its caller applies the result.
  void addToPreviousFold(const Changed &change) {
    uint64_t before = valueOf(lines, change.id), after = 0;
    if (change.kind == ChangeKind::Erased)
      return;
    if (change.kind != ChangeKind::Replaced)
      after = lines[change.id] = textOf(change.op);
    add(change.ordinal, change.id, before, after);
  }

  std::vector<Open> stack;
  /// The latest line of each operation, by operation id.
  std::unordered_map<uint32_t, uint64_t> lines;
  size_t depth = 0;
};
} // namespace

std::unique_ptr<IRKeeper> IRKeeper::of(IRDetail detail, Ordinals ordinals,
                                       Sections &sections) {
  if (detail == IRDetail::None)
    return nullptr;
  if (detail == IRDetail::Changed)
    return std::make_unique<OperationKeeper>(sections);
  return std::make_unique<FunctionKeeper>(detail == IRDetail::Pass, ordinals,
                                          sections);
}

} // namespace adbg
