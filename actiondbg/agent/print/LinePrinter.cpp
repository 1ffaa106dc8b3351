#include "print/LinePrinter.h"
#include "print/InputNames.h"
#include "support/Traits.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// Names of values
//===----------------------------------------------------------------------===//

/// Groups the results of an operation. `isPrintable`: the operation is complete
/// and may be asked for names.
static std::vector<ResultGroup> resultGroups(Operation *op, bool isPrintable) {
  std::vector<ResultGroup> groups;
  unsigned count = op->getNumResults();
  if (!count)
    return groups;
  groups.push_back({0, count, ""});
  auto names =
      isPrintable ? dyn_cast<OpAsmOpInterface>(op) : OpAsmOpInterface();
  if (!names)
    return groups;
  names.getAsmResultNames([&](Value value, StringRef name) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (number == 0)
      groups.front().hint = name.str();
    else
      groups.push_back({number, 0, name.str()});
  });
  std::ranges::sort(groups,
                    [](const ResultGroup &left, const ResultGroup &right) {
                      return left.first < right.first;
                    });
  for (size_t i = 0; i < groups.size(); ++i)
    groups[i].size =
        (i + 1 < groups.size() ? groups[i + 1].first : count) - groups[i].first;
  return groups;
}

const LinePrinter::Known &LinePrinter::knownOf(Operation *op) {
  auto [entry, isNew] = known.try_emplace(op);
  if (isNew) {
    bool complete = isPrintable(op);
    entry->second = {complete && !style.generic, resultGroups(op, complete)};
  }
  return entry->second;
}

/// The operation whose values are named together with those of `op`: its
/// operands and results have names outside of it.
static Operation *namingScope(Operation *op) {
  Operation *parent = op->getParentOp();
  bool hasOuterNames = op->getNumOperands() || op->getNumResults();
  return parent && hasOuterNames && isIsolated(op) ? scopeOf(parent)
                                                   : scopeOf(op);
}

/// Whether the text of an operation names no value and no block: naming all
/// values in a module would take long.
static bool hasNoValues(Operation *op) {
  if (op->getNumOperands() || op->getNumResults() || op->getNumSuccessors())
    return false;
  for (Region &region : op->getRegions())
    if (!region.getArguments().empty())
      return false;
  return true;
}

OpPrintingFlags LinePrinter::flagsFor(bool isGeneric) const {
  OpPrintingFlags flags;
  // The tool's options may ask for locations or the generic form.
  flags.useLocalScope().assumeVerified().skipRegions();
  flags.enableDebugInfo(false).printGenericOpForm(isGeneric);
  if (style.elide >= 0)
    flags.elideLargeElementsAttrs(style.elide)
        .elideLargeResourceString(style.elide);
  return flags;
}

AsmState &LinePrinter::stateFor(Operation *op, bool isGeneric) {
  Operation *scope = hasNoValues(op) ? nullptr : namingScope(op);
  std::unique_ptr<AsmState> &state = states[{scope, isGeneric}];
  if (state)
    return *state;
  OpPrintingFlags flags = flagsFor(isGeneric);
  if (!scope)
    state = std::make_unique<AsmState>(context, flags);
  if (!state || !state->asTool())
    state = std::make_unique<AsmState>(scope ? scope : op, flags);
  return *state;
}

std::string LinePrinter::hintOf(BlockArgument argument) {
  Region *region = argument.getOwner()->getParent();
  Operation *parent = region ? region->getParentOp() : nullptr;
  if (!parent)
    return "arg"; // a conversion replaced the block by one with other types
  std::string hint = argument.getOwner()->isEntryBlock() ? "arg" : "";
  auto names = dyn_cast<OpAsmOpInterface>(parent);
  if (names && knownOf(parent).isCustom)
    names.getAsmBlockArgumentNames(*region, [&](Value value, StringRef name) {
      if (value == argument)
        hint = name.str();
    });
  return hint;
}

/// Returns the end of a quoted string that begins at `start`.
static size_t endOfString(StringRef text, size_t start) {
  for (size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

static size_t endOfName(StringRef text, size_t start) {
  size_t end = start + 1;
  while (end < text.size() && isOfName(text[end]))
    ++end;
  return end;
}

/// Returns the end of a string, of a name of a value, or of another character
/// at `start`.
static size_t endOfToken(StringRef text, size_t start) {
  return text[start] == '"'   ? endOfString(text, start)
         : text[start] == '%' ? endOfName(text, start)
                              : start + 1;
}

static constexpr StringRef skipped = "{...}";

static std::vector<size_t> placesOfRegions(StringRef text) {
  std::vector<size_t> places;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with(skipped))
      places.push_back(i);
    i = endOfToken(text, i);
  }
  return places;
}

/// Whether a text names a value, with `behind` directly behind the name.
static bool mentions(StringRef text, StringRef name, StringRef behind = "") {
  for (size_t i = 0; i < text.size();) {
    size_t end = endOfToken(text, i);
    if (text.slice(i, end) == name && text.substr(end).starts_with(behind))
      return true;
    i = end;
  }
  return false;
}

/// Returns the operand by whose name an argument is printed, as those of
/// emitc.expression are; null if it has a name of its own.
Value LinePrinter::shadowOf(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  // Only isolated operations may shadow; functions have no operands.
  if (!parent || !parent->getNumOperands() || !isIsolated(parent) ||
      !argument.getOwner()->isEntryBlock() ||
      argument.getArgNumber() >= parent->getNumOperands() ||
      !knownOf(parent).isCustom)
    return nullptr;
  RegionStyle style = styleOf(parent);
  if (style.labels != RegionStyle::None)
    return nullptr;
  auto [isNamed, isNew] = named.try_emplace(argument.getOwner());
  if (isNew)
    isNamed->second = namedArguments(argument.getOwner());
  return isNamed->second[argument.getArgNumber()]
             ? nullptr
             : parent->getOperand(argument.getArgNumber());
}

/// Returns which arguments of an entry block are named on the operation's own
/// line.
std::vector<bool> LinePrinter::namedArguments(Block *entry) {
  Operation *op = entry->getParentOp();
  AsmState &state = stateFor(op, /*isGeneric=*/false);
  std::string text = printed(*op, state);
  std::vector<size_t> places = placesOfRegions(text);
  StringRef header =
      places.empty() ? StringRef(text) : StringRef(text).take_front(places[0]);
  Names names = namesIn(text, op, state);
  std::vector<bool> result;
  for (BlockArgument argument : entry->getArguments()) {
    std::string name = nameIn(state, argument);
    // An operand may have the same name, but no type behind it.
    auto found = names.find(name);
    bool isOwn = found != names.end() && found->second == Value(argument);
    result.push_back(mentions(header, name, isOwn ? "" : ":"));
  }
  return result;
}

/// Returns the mark in the place of a value's name.
std::string LinePrinter::markOf(Value value) {
  std::string key, hint;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (Value shadow = shadowOf(argument))
      return markOf(shadow);
    key = keyOf(argument);
    hint = hintOf(argument);
  } else {
    auto result = cast<OpResult>(value);
    unsigned number = result.getResultNumber();
    for (const ResultGroup &group : knownOf(result.getOwner()).groups) {
      if (number < group.first || number >= group.first + group.size)
        continue;
      key = keyOf(result.getOwner()->getResult(group.first));
      hint = group.hint;
    }
  }
  Region *region = value.getParentRegion();
  Operation *parent = region ? region->getParentOp() : nullptr;
  return PrintedOperation::mark + key + " " +
         std::to_string(parent ? ids.of(scopeOf(parent)) : 0) + " " + hint +
         PrintedOperation::mark;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Replaces the names of values by marks.
std::string LinePrinter::marked(StringRef text, const Names &names) {
  std::string result;
  for (size_t i = 0, end; i < text.size(); i = end) {
    end = endOfToken(text, i);
    auto name = text[i] == '%' ? names.find(text.slice(i, end)) : names.end();
    if (name != names.end())
      result += markOf(name->second);
    else
      result += text.slice(i, end);
  }
  return result;
}

/// Returns the values that the text of an operation may name.
LinePrinter::Names LinePrinter::namesIn(StringRef text, Operation *op,
                                        AsmState &state) {
  Names names;
  auto add = [&](Value value) {
    if (value)
      names.try_emplace(nameIn(state, value), value);
  };
  auto addOf = [&](Operation *op) {
    for (Value operand : op->getOperands())
      add(operand);
    for (Value result : op->getResults())
      add(result);
  };
  addOf(op);
  unsigned filled = 0;
  for (Region &region : op->getRegions()) {
    filled += !region.empty();
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        add(argument);
  }
  // A custom form may show the operations of a region itself.
  if (placesOfRegions(text).size() >= filled)
    return names;
  unsigned left = 100;
  op->walk([&](Operation *inner) {
    addOf(inner);
    return --left ? WalkResult::advance() : WalkResult::interrupt();
  });
  return names;
}

/// Corrects the prefix of the operation's name: the tool prints each operation
/// as if it stood alone, where those of the builtin dialect need none.
static std::string withDialect(std::string text, Operation *op) {
  Operation *parent = op->getParentOp();
  auto [dialect, rest] = op->getName().getStringRef().split('.');
  if (!parent || rest.empty() || rest.contains('.'))
    return text;
  auto names = dyn_cast<OpAsmOpInterface>(parent);
  StringRef around = names ? names.getDefaultDialect() : "";
  // Behind the names of the results.
  size_t start = 0;
  if (op->getNumResults())
    start = text.find(" = ") + strlen(" = ");
  StringRef named = StringRef(text).substr(start);
  std::string prefix = dialect + ".";
  bool hasPrefix = named.starts_with(op->getName().getStringRef());
  if (hasPrefix && around == dialect)
    text.erase(start, prefix.size());
  else if (!hasPrefix && around != dialect && named.starts_with(rest))
    text.insert(start, prefix);
  return text;
}

PrintedOperation LinePrinter::print(Operation *op) {
  bool isGeneric = !knownOf(op).isCustom;
  if (!Layout::offsets.hasRegions) {
    // Values have no keys: the tool's names are better than none.
    PrintedOperation whole;
    whole.parts.push_back(printed(*op, flagsFor(isGeneric)));
    return whole;
  }
  AsmState &state = stateFor(op, isGeneric);
  std::string text = printed(*op, state);
  if (!isGeneric)
    text = withDialect(std::move(text), op);
  return cut(text, op, namesIn(text, op, state), isGeneric);
}

std::string LinePrinter::label(Block *block) {
  std::string text = "^bb" + std::to_string(positionOf(block));
  raw_string_ostream os(text);
  if (block->getNumArguments()) {
    os << "(";
    llvm::interleaveComma(block->getArguments(), os, [&](BlockArgument one) {
      os << markOf(one) << ": " << one.getType();
    });
    os << ")";
  }
  os << ":";
  return text;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

PrintedOperation LinePrinter::cut(StringRef text, Operation *op,
                                  const Names &names, bool isGeneric) {
  PrintedOperation printed;
  std::vector<size_t> places = placesOfRegions(text);
  // Which regions are printed: all, or those that are not empty. A switch
  // prints the first one last.
  std::vector<Region *> regions;
  bool isAll = places.size() >= op->getNumRegions();
  for (Region &region : op->getRegions())
    if (isAll || !region.empty())
      regions.push_back(&region);
  if (!places.empty() && places.size() == regions.size() &&
      text.take_front(places.back()).ends_with("default "))
    std::rotate(regions.begin(), regions.begin() + 1, regions.end());
  size_t start = 0;
  for (size_t i = 0; i < std::min(places.size(), regions.size()); ++i) {
    StringRef before = text.slice(start, places[i] + 1);
    printed.parts.push_back(marked(before, names));
    printed.regions.push_back(
        describe(*regions[i], text.take_front(places[i]), names, isGeneric));
    start = places[i] + skipped.size() - 1;
  }
  printed.parts.push_back(marked(text.substr(start), names));
  return printed;
}

/// `before`: the operation's text before the region.
PrintedRegion LinePrinter::describe(Region &region, StringRef before,
                                    const Names &names, bool isGeneric) {
  PrintedRegion printed{&region, true, true, isGeneric, 0};
  StringRef line = before.rsplit('\n').second;
  if (before.contains('\n'))
    printed.indent = (line.size() - line.ltrim(' ').size()) / 2;
  if (isGeneric || region.empty())
    return printed;
  RegionStyle style = styleOf(region.getParentOp());
  printed.hasTerminators = style.hasTerminators;
  printed.hasEmptyBlock = style.hasEmptyBlock;
  printed.hasEntryArguments = style.labels != RegionStyle::None;
  if (style.labels == RegionStyle::None || style.labels == RegionStyle::All)
    return printed;
  // A function, for one, names the arguments of its entry itself.
  for (const auto &[name, value] : names)
    if (BlockArgument::classof(value) &&
        BlockArgument(value).getOwner() == &region.front() &&
        mentions(before, name))
      printed.hasEntryArguments = false;
  return printed;
}

/// Whether a terminator may be left out: it says nothing.
static bool isBare(Block &block) {
  if (block.empty())
    return false;
  Operation &last = block.back();
  return isTerminator(&last) && !last.getNumOperands() &&
         !last.getNumSuccessors();
}

/// Whether the regions of an operation are printed alike in any style.
static bool needsStyle(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    bool hasOwnArguments = op->getNumOperands() || op->getNumResults();
    if (isBare(region.front()) || region.front().empty() ||
        (hasOwnArguments && !region.getArguments().empty()))
      return true;
  }
  return false;
}

/// Whether all operations in `op` can be printed in their custom form: in the
/// middle of a rewrite their printers may crash.
static bool isPrintableWhole(Operation *op) {
  return !firstIn<WalkOrder::PostOrder>(
      op, [](Operation *inner) { return !isPrintable(inner); });
}

/// Only the printer of an operation knows what it prints in its regions: a
/// small operation of the same name is printed whole to find out.
LinePrinter::RegionStyle LinePrinter::styleOf(Operation *op) {
  RegionStyle found;
  if (!needsStyle(op))
    return found;
  RegionStyle &known = styles[{nameKeyOf(op), op->getNumResults() != 0}];
  constexpr int64_t most = 1000;
  if (!isSmall(op, most) || !isPrintableWhole(op))
    return known;
  OpPrintingFlags flags;
  flags.useLocalScope().assumeVerified().elideLargeElementsAttrs();
  flags.enableDebugInfo(false).printGenericOpForm(false);
  AsmState state(op, flags);
  std::string text = printed(*op, state);
  unsigned entries = 0, labels = 0;
  std::vector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  TextSet words;
  for (StringRef line : lines) {
    labels += line.starts_with("^bb0(");
    found.hasEmptyBlock |= line.starts_with("^bb0:");
    if (line.size() - line.ltrim(' ').size() == 2)
      words.insert(line.ltrim(' ').split(' ').first.str());
  }
  for (Region &region : op->getRegions()) {
    entries += !region.getArguments().empty();
    if (!region.empty() && isBare(region.front())) {
      StringRef name = region.front().back().getName().getStringRef();
      found.hasTerminators =
          words.contains(name) || words.contains(name.split('.').second);
    }
  }
  found.labels = !labels            ? RegionStyle::None
                 : labels < entries ? RegionStyle::Some
                                    : RegionStyle::All;
  return known = found;
}

} // namespace adbg
