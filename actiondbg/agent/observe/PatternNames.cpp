//===- PatternNames.cpp - Names of patterns -------------------------------===//
//
// Source of the layouts: the Itanium C++ ABI, "Virtual Table Layout" and
// "RTTI Layout"; RewritePatternSet::add in mlir/IR/PatternMatch.h.
//
//===----------------------------------------------------------------------===//

#include "observe/PatternNames.h"
#include "mlir/Pass/Pass.h"
#include "support/Memo.h"
#include "support/Symbols.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// The parts of a pattern
//===----------------------------------------------------------------------===//

static bool isCode(const void *address) { return Place::of(address).isCode; }

/// Whether an address is a table of the virtual functions of a RewritePattern:
/// destructors, matchAndRewrite, anchor.
static bool isVtable(const void *const *table) {
  constexpr int before = 2, functions = 4;
  if (reinterpret_cast<uintptr_t>(table) % sizeof(void *) != 0)
    return false;
  const auto *first = static_cast<const void *>(table - before);
  const auto *last = static_cast<const void *>(table + functions);
  Place place = Place::of(first);
  if (!place.isKnown() || place.isCode || Place::of(last).path != place.path)
    return false;
  bool hasOffset = table[-before] != nullptr;
  return !hasOffset && std::all_of(table, table + functions, isCode);
}

/// Reads a word behind an object. It need not be mapped if a page begins there.
static const void *wordBehind(const char *end) {
  const void *word = nullptr;
  if (reinterpret_cast<uintptr_t>(end) % 4096)
    memcpy(static_cast<void *>(&word), end, sizeof(word));
  else if (!readMemory(end, &word, sizeof(word)))
    return nullptr;
  return word;
}

static std::string unnamedText(const Pattern &pattern) {
  std::optional<OperationName> root = pattern.getRootKind();
  PatternBenefit benefit = pattern.getBenefit();
  return "<unnamed, root " + (root ? root->getStringRef().str() : "any") +
         ", benefit " +
         std::to_string(benefit.isImpossibleToMatch() ? 0
                                                      : benefit.getBenefit()) +
         ">";
}

UnnamedPattern::UnnamedPattern(const Pattern &pattern)
    : unnamed(unnamedText(pattern)) {
  static thread_local std::unordered_set<const void *> vtables, functions;
  auto isKnown = [](std::unordered_set<const void *> &known,
                    const void *address, auto check) {
    if (known.contains(address))
      return true;
    bool isTrue = check();
    if (isTrue)
      known.insert(address);
    return isTrue;
  };
  // A pattern of PDL is no RewritePattern: it has no virtual functions.
  auto *object = reinterpret_cast<const char *>(
      static_cast<const RewritePattern *>(&pattern));
  const void *const *table;
  memcpy(static_cast<void *>(&table), object, sizeof(table));
  const auto *address = static_cast<const void *>(table);
  if (!isKnown(vtables, address, [&] { return isVtable(table); }))
    return;
  vtable = table;
  // The only member of the class in RewritePatternSet::add. In another class
  // this is another member or what follows the object.
  const void *behind = wordBehind(object + sizeof(RewritePattern));
  if (isKnown(functions, behind, [&] { return isCode(behind); }))
    function = behind;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns the name of the class with this table of virtual functions; empty if
/// neither type information nor a symbol is there.
std::string classOf(const void *const *vtable) {
  if (const void *information = vtable[-1];
      information && Place::of(information).isKnown()) {
    const auto *type = static_cast<const void *const *>(information);
    StringRef name = static_cast<const char *>(type[1]);
    // A compiler's mark of a type that is compared by its address.
    name.consume_front("*");
    return readableName(name);
  }
  std::string symbol = symbolAt(static_cast<const void *>(vtable - 2));
  return StringRef(symbol).starts_with("_ZTV") ? readableName(symbol) : "";
}

std::string nameOfFunction(const void *function) {
  std::string symbol = symbolAt(function);
  std::string name = readableName(symbol);
  return name.empty() ? symbol : name;
}

static std::string placeOf(const UnnamedPattern &pattern) {
  StringRef root = pattern.unnamed;
  root.consume_front("<unnamed, root ");
  root = root.split(',').first;
  const void *address = pattern.function
                            ? pattern.function
                            : static_cast<const void *>(pattern.vtable);
  return (root == "any" ? "" : root.str() + "@") +
         Place::of(address).offsetOf(address);
}

static std::string findName(const UnnamedPattern &pattern) {
  if (!pattern.vtable)
    return pattern.unnamed;
  std::string type = classOf(pattern.vtable);
  bool isFunction = StringRef(type).starts_with("mlir::RewritePatternSet::") &&
                    StringRef(type).ends_with("::FnPattern");
  if (!type.empty() && !isFunction)
    return type;
  std::string name = pattern.function ? nameOfFunction(pattern.function) : type;
  return name.empty() ? placeOf(pattern) : name;
}

const FoundName &UnnamedPattern::find() const {
  // Never destroyed: the tool may dispatch in static destructors.
  static std::mutex &mutex = *new std::mutex;
  static auto &found = *new std::map<UnnamedPattern, FoundName>;
  std::lock_guard<std::mutex> guard(mutex);
  auto [place, isNew] = found.try_emplace(*this);
  if (isNew)
    place->second = {findName(*this), unnamed};
  return place->second;
}

const FoundName &foundNameOf(const Pattern &pattern) {
  static thread_local std::unordered_map<const Pattern *, const FoundName *>
      known;
  static thread_local unsigned epoch = 0;
  // A pattern of a newer set may have reused the address.
  if (epoch != namesEpoch())
    known.clear();
  epoch = namesEpoch();
  const FoundName *&found = known[&pattern];
  if (!found)
    found = &UnnamedPattern(pattern).find();
  return *found;
}

//===----------------------------------------------------------------------===//
// Names of a run
//===----------------------------------------------------------------------===//

void KnownNames::number(Frame &frame) {
  switch (frame.kind) {
  case Kind::Pattern:
    frame.nth = ++patternActions;
    return;
  case Kind::Fold:
    frame.nth = ++folds;
    return;
  case Kind::Pass:
    frame.nth = ++passActions;
    if (!frame.isAlternative) {
      frame.needRare().run = ++passes[frame.name()];
      passRuns += !frame.isAdaptor();
    }
    return;
  default:
    frame.nth = ++tags[frame.tag().str()];
  }
}

void KnownNames::addPattern(const Pattern &pattern) {
  StringRef name = pattern.getDebugName();
  if (name.empty())
    unnamed.insert(UnnamedPattern(pattern));
  else
    patterns.insert(withoutAnonymous(name));
}

const TextSet &KnownNames::patternNames() {
  for (const UnnamedPattern &one : unnamed)
    patterns.insert(withoutAnonymous(one.find().name));
  unnamed.clear();
  return patterns;
}

size_t KnownNames::bytes() const {
  size_t bytes = 0;
  for (const std::string &name : patterns)
    bytes += name.size() + 2 * sizeof(void *);
  for (const auto &[name, runs] : passes)
    bytes += name.size() + 3 * sizeof(void *);
  return bytes;
}

} // namespace adbg
