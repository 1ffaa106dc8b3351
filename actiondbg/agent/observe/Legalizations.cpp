#include "observe/Legalizations.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "print/LinePrinter.h"
#include "print/ValueKeys.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

namespace adbg {

/// The most events of one operation's legalization, and the most operations
/// around others, that are kept.
static constexpr size_t mostEvents = 100000, mostAround = 256, mostUsers = 8,
                        mostNeeding = 64, mostCasts = 16;
static constexpr int64_t mostNamed = 100000;
/// The operations of each name that are written of each pass, whatever the
/// limit is.
static constexpr int64_t fewOfName = 10;

bool WantedOperations::contains(Operation *op, uint32_t id) {
  if (llvm::is_contained(ids, int64_t(id)))
    return true;
  return name && name->matches(op->getName().getStringRef());
}

std::error_code Legalizations::open(const std::string &path,
                                    WantedOperations operations, bool reasons) {
  if (std::error_code error = file.open(path))
    return error;
  wanted = std::move(operations);
  written = 0;
  writtenOfName.clear();
  casts.clear();
  typeReasons.ask(reasons);
  return {};
}

static std::string lineOf(Object event) {
  std::string line;
  raw_string_ostream os(line);
  os << Json(std::move(event)) << '\n';
  return line;
}

bool Legalizations::close() {
  // A conversion that has not ended: the tool may be about to crash in it.
  for (Conversion &conversion : conversions)
    write(conversion, linesOf(conversion.events));
  conversions.clear();
  typeReasons.ask(false);
  Array gone;
  for (const OperationHandle &cast : casts)
    if (!cast.get())
      gone.push_back(int64_t(cast.knownId()));
  casts.clear();
  if (!gone.empty())
    *file << lineOf(Object{{"event", "gone"}, {"ids", std::move(gone)}});
  return file.close();
}

static const Frame *passNow() {
  const Frame *around = Engine::get().innermost;
  return around ? around->passAround() : nullptr;
}

static bool isCast(Operation *op) {
  return op->getName().getStringRef() == "builtin.unrealized_conversion_cast";
}

static StringRef actionText(const ConversionTarget &target,
                            OperationName name) {
  using Action = ConversionTarget::LegalizationAction;
  std::optional<Action> action = target.getOpAction(name);
  if (!action)
    return "unknown";
  return *action == Action::Legal     ? "legal"
         : *action == Action::Dynamic ? "dynamic"
                                      : "illegal";
}

/// Returns the operation in the generic form, which no custom printer writes:
/// in the middle of a conversion it may not be valid.
static std::string textOf(Operation *op) {
  LineStyle style;
  style.generic = true;
  return LinePrinter(op->getContext(), style).print(op).parts.front();
}

/// Returns the names of the values before a conversion: at its end some are
/// gone.
static std::string namesIn(ArrayRef<Operation *> roots) {
  std::string lines;
  Silence silence;
  for (Operation *root : roots) {
    Operation *scope = scopeOf(root);
    if (!isSmall(scope, mostNamed))
      continue;
    std::string text;
    raw_string_ostream os(text);
    BlockKeys::all().keep(scope);
    AsmState state(scope, OpPrintingFlags().useLocalScope().assumeVerified());
    writeNames(scope, state, os);
    lines += lineOf(Object{
        {"event", "names"}, {"scope", int64_t(ids.of(scope))}, {"text", text}});
  }
  return lines;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

void Legalizations::beginConversion(const ConversionTarget &target,
                                    const FrozenRewritePatternSet &patterns,
                                    ArrayRef<Operation *> roots, bool isFull,
                                    uint64_t ordinal) {
  AgentHeap agentHeap;
  if (!file.isOpen())
    return;
  Conversion conversion;
  conversion.target = &target;
  conversion.patterns = &patterns;
  for (Operation *root : roots) {
    conversion.roots.push_back(OperationHandle(root));
    conversion.context = root->getContext();
  }
  conversion.firstId = ids.upcoming();
  const Frame *pass = passNow();
  conversion.head =
      Object{{"event", "conversion"},
             {"ordinal", int64_t(ordinal)},
             {"full", isFull},
             {"pass", pass ? Json(pass->name()) : nullptr},
             {"function", pass ? Json(pass->function()) : nullptr}};
  // A conversion that fails leaves all values as they are.
  if (!wanted.isEmpty())
    conversion.names = namesIn(roots);
  conversions.push_back(std::move(conversion));
}

void Legalizations::write(Conversion &conversion, StringRef text) {
  if (!std::exchange(conversion.hasHead, true))
    *file << lineOf(conversion.head) << conversion.names;
  *file << text;
}

void Legalizations::endConversion(bool isFailed) {
  AgentHeap agentHeap;
  if (conversions.empty())
    return;
  Conversion conversion = std::move(conversions.back());
  conversions.pop_back();
  if (!file.isOpen())
    return;
  if (isFailed) {
    for (uint32_t parent : conversion.parents)
      for (const Kept &kept : conversion.around)
        if (kept.id == parent)
          write(conversion, kept.text);
    write(conversion, linesOf(conversion.events));
    writeNeeding(conversion);
    if (conversion.newestUntold)
      --*conversion.newestUntold;
  } else {
    writeLeft(conversion);
  }
  for (const auto &[name, count] : conversion.untold)
    if (count)
      write(conversion,
            lineOf(
                Object{{"event", "untold"}, {"name", name}, {"count", count}}));
  if (!conversion.hasHead)
    return;
  // Those for any operation are not listed: they would have been tried.
  bool verifies = conversion.tried.empty() &&
                  conversion.patterns->getPatterns().empty() &&
                  !facts::frozenPatterns.isRefuted();
  *file << lineOf(Object{{"event", "conversion-end"},
                         {"failed", isFailed},
                         {"verifies", verifies}});
}

Object Legalizations::neighbour(const Conversion &conversion,
                                Operation *op) const {
  uint32_t id = ids.of(op);
  bool isConverted =
      id >= conversion.firstId || conversion.legalized.contains(id);
  return Object{{"id", idOrNull(id)},
                {"name", op->getName().getStringRef()},
                {"location", placeText(op->getLoc())},
                {"converted", isConverted},
                {"tried", conversion.tried.contains(id)}};
}

Array Legalizations::users(const Conversion &conversion,
                           Operation *cast) const {
  Array all;
  for (Operation *user : cast->getUsers()) {
    all.push_back(neighbour(conversion, user));
    if (all.size() == mostUsers)
      break;
  }
  return all;
}

/// Describes an argument that the operations before its block pass to it: no
/// operation around it does. Null for other arguments.
Json Legalizations::blockOf(const Conversion &conversion,
                            BlockArgument argument) const {
  Block *block = argument.getOwner();
  if (!block->getParentOp() || block->isEntryBlock())
    return nullptr;
  SmallVector<Operation *> passers;
  for (Block *before : block->getPredecessors())
    if (before && !before->empty() && passers.size() < mostUsers &&
        !llvm::is_contained(passers, &before->back()))
      passers.push_back(&before->back());
  return Object{{"argument", int64_t(argument.getArgNumber())},
                {"number", positionOf(block)},
                {"location", placeText(argument.getLoc())},
                {"passedBy", Array(passers, [&](Operation *op) {
                   return neighbour(conversion, op);
                 })}};
}

/// Adds the operation that gives the value of a cast, and those that need it.
void Legalizations::addNeighbours(Object &event, const Conversion &conversion,
                                  Operation *cast) const {
  event["users"] = users(conversion, cast);
  Value input = cast->getNumOperands() ? cast->getOperand(0) : Value();
  Operation *definer = input ? input.getDefiningOp() : nullptr;
  auto argument = dyn_cast_if_present<BlockArgument>(input);
  if (argument)
    definer = argument.getOwner()->getParentOp();
  event["definer"] = definer ? Json(neighbour(conversion, definer)) : nullptr;
  event["argument"] = bool(argument);
  event["block"] = argument ? blockOf(conversion, argument) : Json(nullptr);
}

template <typename Types> static Array textsOf(const Types &types) {
  return Array(types, [](Type type) { return printed(type); });
}

/// Counts the wanted operations that a conversion left, by name, and describes
/// the casts among them.
void Legalizations::writeLeft(Conversion &conversion) {
  if (wanted.isEmpty())
    return;
  struct Left {
    int64_t count = 0;
    uint32_t first = 0;
    Array casts;
  };
  std::map<OperationName, Left, bool (*)(OperationName, OperationName)> left(
      [](OperationName a, OperationName b) {
        return a.getStringRef() < b.getStringRef();
      });
  for (const OperationHandle &root : conversion.roots) {
    if (!root.get())
      continue; // erased by a pattern
    root.get()->walk([&](Operation *op) {
      uint32_t id = ids.of(op);
      if (!wanted.contains(op, id))
        return;
      Left &one = left[op->getName()];
      if (!one.count++)
        one.first = id;
      if (!isCast(op) || one.casts.size() == mostCasts)
        return;
      Object cast{{"id", idOrNull(id)},
                  {"made", id >= conversion.firstId},
                  {"source", textsOf(op->getOperandTypes())},
                  {"target", textsOf(op->getResultTypes())}};
      addNeighbours(cast, conversion, op);
      one.casts.push_back(std::move(cast));
      casts.push_back(OperationHandle(op));
    });
  }
  for (auto &[name, one] : left)
    write(conversion,
          lineOf(Object{{"event", "left"},
                        {"name", name.getStringRef()},
                        {"legality", actionText(*conversion.target, name)},
                        {"count", one.count},
                        {"id", idOrNull(one.first)},
                        {"casts", std::move(one.casts)}}));
}

//===----------------------------------------------------------------------===//
// In a conversion
//===----------------------------------------------------------------------===//

void Legalizations::add(Event event) {
  Conversion &conversion = conversions.back();
  if (conversion.events.size() < mostEvents)
    conversion.events.push_back(std::move(event));
  else if (!std::exchange(conversion.isCut, true))
    conversion.events.push_back([] { return Object{{"event", "cut"}}; });
}

void Legalizations::add(Object event) {
  add([event = std::move(event)] { return event; });
}

std::string Legalizations::linesOf(std::vector<Event> &events) {
  std::string lines;
  for (Event &event : events)
    lines += lineOf(event());
  return lines;
}

void Legalizations::beginOperation(Operation *op) {
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (conversion.open.empty()) {
    conversion.parents.clear();
    conversion.events.clear();
    conversion.newestUntold = nullptr;
    conversion.isCut = false;
  }
  conversion.open.emplace_back();
  add([target = conversion.target, id = ids.of(op), name = op->getName(),
       location = op->getLoc()] {
    return Object{{"event", "operation"},
                  {"id", idOrNull(id)},
                  {"name", name.getStringRef()},
                  {"location", placeText(location)},
                  {"legality", actionText(*target, name)}};
  });
}

/// Lists the patterns for an operation that were not tried: the conversion
/// leaves out those that generate what no pattern legalizes.
Array Legalizations::untried(const Conversion &conversion, Operation *op,
                             const Open &open) const {
  Array all;
  for (const RewritePattern *pattern : conversion.patterns->getPatterns()) {
    if (pattern->getRootKind() != std::optional(op->getName()) ||
        llvm::is_contained(open.tried, pattern))
      continue;
    Array generates(pattern->getGeneratedOps(), [&](OperationName name) {
      return Object{{"name", name.getStringRef()},
                    {"legality", actionText(*conversion.target, name)}};
    });
    all.push_back(Object{{"name", nameOf(*pattern)},
                         {"benefit", pattern->getBenefit().getBenefit()},
                         {"generates", std::move(generates)}});
  }
  return all;
}

/// Writes which operations need the one at which a conversion failed, directly
/// or by others, that the target refuses as well, and for which there is no
/// pattern: what keeps it alive is among them.
void Legalizations::writeNeeding(Conversion &conversion) {
  Operation *op = conversion.failed.get();
  if (!op)
    return;
  Silence silence;
  SmallVector<Operation *> found;
  found.push_back(op);
  Array needing;
  typeReasons.listen(true); // of other operations than that one
  for (size_t at = 0; at < found.size() && found.size() <= mostNeeding; ++at)
    for (Operation *user : found[at]->getUsers()) {
      auto isForUser = [&](const RewritePattern *pattern) {
        return pattern->getRootKind() == std::optional(user->getName());
      };
      if (llvm::is_contained(found, user) ||
          std::ranges::any_of(conversion.patterns->getPatterns(), isForUser) ||
          !conversion.target->isIllegal(user))
        continue;
      found.push_back(user);
      needing.push_back(neighbour(conversion, user));
    }
  typeReasons.listen(false);
  write(conversion, lineOf(Object{{"event", "needing"},
                                  {"id", idOrNull(ids.of(op))},
                                  {"operations", std::move(needing)}}));
}

void Legalizations::endOperation(Operation *op, bool isLegalized) {
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  endPattern(isLegalized ? "succeeded" : "failed");
  if (isLegalized) {
    add([] { return Object{{"event", "operation-end"}, {"legalized", true}}; });
  } else {
    Silence silence;
    Object event{{"event", "operation-end"}, {"legalized", false}};
    event["untried"] = untried(conversion, op, conversion.open.back());
    // Types that fail to convert now are those that legality asks for.
    std::string said = typeReasons.overhear(
        [&] { event["illegal"] = conversion.target->isIllegal(op); });
    if (!said.empty())
      event["said"] = said;
    event["text"] = textOf(op);
    if (isCast(op))
      event["users"] = users(conversion, op);
    add(std::move(event));
  }
  uint32_t id = ids.of(op);
  if (!conversion.open.back().tried.empty())
    conversion.tried.insert(id);
  conversion.open.pop_back();
  if (isLegalized)
    conversion.legalized.insert(id);
  if (!conversion.open.empty() || isLegalized)
    return;
  conversion.failed = OperationHandle(op);
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    conversion.parents.push_back(ids.of(parent));
  if (wanted.contains(op, id))
    writeWanted(conversion, op->getName().getStringRef());
  if (op->getNumRegions() && conversion.around.size() < mostAround)
    conversion.around.push_back({id, linesOf(conversion.events)});
}

/// Writes what was tried for the newest operation, unless there was too much.
void Legalizations::writeWanted(Conversion &conversion, StringRef name) {
  const Json *pass = conversion.head.get("pass");
  std::string key =
      pass && pass->getAsString() ? pass->getAsString()->str() : "";
  int64_t &ofName = writtenOfName[key + '\0' + name.str()];
  if (written >= wanted.most && ofName >= fewOfName) {
    conversion.newestUntold = &conversion.untold[name.str()];
    ++*conversion.newestUntold;
    return;
  }
  ++written;
  ++ofName;
  write(conversion, linesOf(conversion.events));
}

void Legalizations::beginPattern(const Pattern &pattern, uint64_t ordinal,
                                 bool isRefused) {
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (conversion.open.empty())
    return;
  endPattern("failed");
  Open &open = conversion.open.back();
  open.tried.push_back(&pattern);
  open.isTrying = true;
  open.hasSaidWhy = false;
  open.ofDriver.clear();
  add([&pattern, ordinal, isRefused] {
    return Object{
        {"event", "pattern"},
        {"name", nameOf(pattern)},
        {"benefit", pattern.getBenefit().getBenefit()},
        {"anyOperation", pattern.isOfAnyOperation()},
        {"ordinal", isRefused ? Json(nullptr) : Json(int64_t(ordinal))}};
  });
  if (isRefused)
    endPattern("refused");
}

void Legalizations::endPattern(StringRef result) {
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (conversion.open.empty() ||
      !std::exchange(conversion.open.back().isTrying, false))
    return;
  add([result, isUnheard = !Frame::hearsReasons] {
    return Object{
        {"event", "pattern-end"}, {"result", result}, {"unheard", isUnheard}};
  });
}

void Legalizations::reason(const Diagnostic &diagnostic) {
  Silence silence;
  add(Object{{"event", "reason"}, {"text", diagnostic.str()}});
}

void Legalizations::gaveReason(const Diagnostic &diagnostic) {
  if (typeReasons.isProbing())
    return;
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (!conversion.open.empty()) {
    Open &open = conversion.open.back();
    std::string text = diagnostic.str();
    if (StringRef(text).starts_with("unable to convert type for ")) {
      if (!open.hasSaidWhy)
        open.ofDriver = std::move(text);
      return;
    }
    open.hasSaidWhy = true;
  }
  reason(diagnostic);
}

void Legalizations::diagnosed(const Diagnostic &diagnostic) {
  if (typeReasons.isProbing())
    return;
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (!conversion.open.empty() && conversion.open.back().isTrying) {
    reason(diagnostic); // what some patterns say instead
    return;
  }
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  Array notes;
  for (const Diagnostic *note : diagnostic.getNotes())
    notes.push_back(Object{{"text", note->str()},
                           {"location", placeText(note->getLocation())}});
  add(Object{{"event", "diagnostic"},
             {"text", diagnostic.str()},
             {"location", placeText(diagnostic.getLocation())},
             {"notes", std::move(notes)}});
  writeUnresolved(diagnostic);
}

template <typename Types> static std::string quoted(const Types &types) {
  std::string text = "(";
  raw_string_ostream os(text);
  llvm::interleaveComma(types, os,
                        [&](Type type) { os << "'" << type << "'"; });
  os << ")";
  return text;
}

/// Finds the cast of which a diagnostic says that it was not resolved, and
/// tells which of its neighbours were converted: one was, and one was not.
void Legalizations::writeUnresolved(const Diagnostic &diagnostic) {
  const Frame *pass = passNow();
  std::string message = diagnostic.str();
  if (!pass || !pass->op() ||
      !StringRef(message).contains("unresolved materialization"))
    return;
  Operation *found =
      firstIn<WalkOrder::PostOrder>(pass->op(), [&](Operation *op) {
        return isCast(op) && op->getLoc() == diagnostic.getLocation() &&
               !op->use_empty() &&
               StringRef(message).contains(
                   "from " + quoted(op->getOperandTypes()) + " to " +
                   quoted(op->getResultTypes()));
      });
  if (!found)
    return;
  Object event{{"event", "unresolved"}};
  addNeighbours(event, conversions.back(), found);
  add(std::move(event));
}

void Legalizations::typeFailed(const TypeConverter &converter, Type type) {
  if (typeReasons.isProbing())
    return;
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (conversion.open.empty())
    return;
  Silence silence;
  conversion.open.back().hasSaidWhy = true;
  Object event{{"event", "type"},
               {"type", printed(type)},
               {"converter", textOrNull(nameOf(converter))}};
  if (typeReasons.areAsked())
    typeReasons.describe(converter, type, conversion.context, event);
  add(std::move(event));
}

/// Converts the types of the operands, as a conversion does before it calls a
/// pattern, and the types of a function's signature, as patterns for functions
/// do. Returns the first type that does not convert.
static Type unconverted(const TypeConverter &converter, Operation *op) {
  SmallVector<Type> converted;
  // `source`: a type, or a value, whose type some converters choose by what is
  // around it.
  auto fails = [&](auto source) {
    converted.clear();
    return failed(converter.convertType(source, converted));
  };
  for (Value operand : op->getOperands())
    if (operand && fails(operand))
      return operand.getType();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return nullptr;
  for (ArrayRef<Type> types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types)
      if (fails(type))
        return type;
  return nullptr;
}

void Legalizations::listenToTypes(Operation *op, const Pattern &pattern) {
  AgentHeap agentHeap;
  const TypeConverter *converter = converterOf(pattern);
  if (!converter)
    return;
  Silence silence;
  // What a converter reports is no debug output.
  ScopedDiagnosticHandler handler(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  typeReasons.listen(true);
  unconverted(*converter, op);
  typeReasons.listen(false);
}

/// If the driver fails to convert a type, it says so only with -debug, and
/// calls no function that is interposed: it is tried again.
void Legalizations::tryTypes(Operation *op, const Pattern &pattern) {
  const TypeConverter *converter = converterOf(pattern);
  if (!converter)
    return;
  Silence silence;
  if (Type type = unconverted(*converter, op))
    typeFailed(*converter, type);
}

void Legalizations::failPattern(Operation *op, const Pattern &pattern) {
  AgentHeap agentHeap;
  Conversion &conversion = conversions.back();
  if (!conversion.open.empty() && conversion.open.back().isTrying &&
      !conversion.open.back().hasSaidWhy) {
    tryTypes(op, pattern);
    Open &open = conversion.open.back();
    if (!open.hasSaidWhy && !open.ofDriver.empty())
      add(Object{{"event", "reason"}, {"text", open.ofDriver}});
  }
  endPattern("failed");
}

} // namespace adbg
