#include "print/InputNames.h"
#include "print/ValueKeys.h"

#include "support/Traits.h"

namespace adbg {

InputNames &InputNames::all() {
  // Never destroyed: the tool may parse in static destructors.
  static InputNames *names = new InputNames;
  return *names;
}

void InputNames::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  roots.clear();
  entries.clear();
  names.clear();
  largest[0] = largest[1] = -1;
  ordered = OrderedTexts();
  taken = 0;
  isOrdered = false;
}

void InputNames::add(Entry entry, StringRef name) {
  entry.name = names.size();
  names.append(name.data(), name.size());
  names.push_back('\0');
  entries.push_back(entry);
  number(name);
}

void InputNames::number(StringRef name) {
  StringRef digits = name.drop_front();
  bool isArgument = digits.consume_front("arg");
  int64_t number = 0;
  if (!digits.getAsInteger(10, number))
    largest[isArgument] = std::max(largest[isArgument], number);
}

void InputNames::reached(Operation *op) {
  op = rootOf(op);
  std::lock_guard<std::mutex> lock(mutex);
  if (!readsFiles || !roots.insert(ids.of(op)).second)
    return;
  readsFiles = facts::sourceNames.isSafe([&] { addFromSource(op, 1000); });
  if (!readsFiles)
    return;
  addFromSource(op, std::numeric_limits<size_t>::max());
  isOrdered = false;
}

void InputNames::addFromSource(Operation *root, size_t most) {
  SourceText source;
  std::vector<Operation *> defining;
  std::unordered_set<Operation *> named;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (most == 0)
      return WalkResult::interrupt();
    --most;
    if (unsigned results = op->getNumResults()) {
      defining.push_back(op);
      if (std::optional<FilePlace> place = asFilePlace(op->getLoc()))
        source.resultsAt(*place, op->getName().getStringRef(), results,
                         [&](unsigned first, StringRef name) {
                           addResult(op, first, name);
                           named.insert(op);
                         });
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addArguments(block, source);
    return WalkResult::advance();
  });
  // Not all are found where the text places operations elsewhere.
  source.eachName([&](StringRef name) { number(name); });
  if (most == 0 || named.size() == defining.size() || ordered.isOver())
    return;
  // Where the text gives operations locations in another one.
  std::vector<Defining> all;
  all.reserve(defining.size());
  for (Operation *op : defining) {
    Operation *parent = op->getParentOp();
    all.push_back({op->getName().getStringRef(), op->getNumResults(),
                   op->getBlock(), parent ? parent->getBlock() : nullptr,
                   parent && !isIsolated(parent)});
  }
  ordered.match(all, [&](size_t i, unsigned first, StringRef name) {
    if (!named.contains(defining[i]))
      addResult(defining[i], first, name);
  });
}

void InputNames::addResult(Operation *op, unsigned first, StringRef name) {
  Operation *parent = op->getParentOp();
  if (uint32_t id = ids.of(op))
    add({parent ? ids.of(scopeOf(parent)) : 0, id, first, 0, 0}, name);
}

void InputNames::addArguments(Block &block, SourceText &source) {
  BlockKeys &keys = BlockKeys::all();
  if (!block.getNumArguments())
    return;
  Operation *holder = block.getParentOp();
  if (!keys.numberOf(&block))
    keys.added(&block);
  for (BlockArgument argument : block.getArguments())
    if (std::optional<FilePlace> place = asFilePlace(argument.getLoc()))
      if (StringRef name = source.valueAt(*place); !name.empty())
        add({ids.of(scopeOf(holder)), ids.of(holder), argument.getArgNumber(),
             keys.numberOf(&block), 0},
            name);
}

void InputNames::order() {
  if (std::exchange(isOrdered, true))
    return;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry &left, const Entry &right) {
                     return left.scope < right.scope;
                   });
  byValue.resize(entries.size());
  for (uint32_t i = 0; i < byValue.size(); ++i)
    byValue[i] = i;
  std::sort(byValue.begin(), byValue.end(), [&](uint32_t left, uint32_t right) {
    return keyOf(entries[left]) < keyOf(entries[right]);
  });
}

InputNames::Named InputNames::describe(const Entry &entry) const {
  std::string owner = entry.block ? "/" + std::to_string(entry.block)
                                  : std::to_string(entry.id);
  return {nameOf(entry), owner + "." + std::to_string(entry.index), entry.scope,
          entry.id};
}

std::string InputNames::takeNew() {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  if (std::exchange(taken, entries.size()) == entries.size())
    return text;
  order();
  raw_string_ostream os(text);
  os << "!" << largest[0] << " " << largest[1] << "\n";
  const Entry *before = nullptr;
  for (const Entry &entry : entries) {
    if (!before || before->scope != entry.scope)
      os << "@" << entry.scope << "\n";
    Named named = describe(entry);
    os << "." << named.key << " " << named.name << "\n";
    before = &entry;
  }
  return text;
}

void InputNames::inScope(uint32_t scope,
                         function_ref<void(const Named &)> see) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  auto at = std::lower_bound(
      entries.begin(), entries.end(), scope,
      [](const Entry &entry, uint32_t scope) { return entry.scope < scope; });
  for (; at != entries.end() && at->scope == scope; ++at)
    see(describe(*at));
}

std::optional<InputNames::Named> InputNames::of(uint32_t id, uint32_t block,
                                                uint32_t index) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  std::array<uint32_t, 3> key{block, block ? 0 : id, index};
  auto at = std::lower_bound(
      byValue.begin(), byValue.end(), key,
      [&](uint32_t one, const auto &key) { return keyOf(entries[one]) < key; });
  if (at == byValue.end() || keyOf(entries[*at]) != key)
    return std::nullopt;
  return describe(entries[*at]);
}

void InputNames::withName(StringRef name,
                          function_ref<void(const Named &)> see) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  for (const Entry &entry : entries)
    if (nameOf(entry) == name)
      see(describe(entry));
}

} // namespace adbg
