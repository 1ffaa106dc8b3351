//===- InputNames.cpp - The names of values in parsed text ----------------===//

#include "print/InputNames.h"
#include "print/SourceText.h"
#include "print/ValueKeys.h"

#include "layout/FirstCall.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using llvm::StringRef;

namespace adbg {

void ParsedNames::add(Entry entry, const char *text) {
  if (!text || *text != '%')
    return;
  const char *end = text + 1;
  while (isOfName(*end))
    ++end;
  entry.name = names.size();
  names.append(text, end);
  names.push_back('\0');
  entries.push_back(entry);
}

InputNames &InputNames::all() {
  // Never destroyed: the tool may parse in static destructors.
  static InputNames *names = new InputNames;
  return *names;
}

void InputNames::add(Entry entry, StringRef name) {
  entry.name = names.size();
  names.append(name.data(), name.size());
  names.push_back('\0');
  entries.push_back(entry);
  StringRef digits = name.drop_front();
  bool isArgument = digits.consume_front("arg");
  int64_t number = 0;
  if (!digits.getAsInteger(10, number))
    largest[isArgument] = std::max(largest[isArgument], number);
}

void InputNames::add(const ParsedNames &parsed) {
  std::lock_guard<std::mutex> lock(mutex);
  const Identities &ids = parsed.ids;
  for (const ParsedNames::Entry &one : parsed.entries) {
    uint32_t block = one.block ? BlockKeys::all().numberOf(one.block) : 0;
    bool isThere = one.block ? block != 0 : one.id && ids.of(one.op) == one.id;
    if (!isThere)
      continue;
    Operation *holder =
        one.block ? one.block->getParentOp() : one.op->getParentOp();
    uint32_t scope = holder ? ids.of(scopeOf(holder)) : 0;
    uint32_t id = one.op ? one.id : holder ? ids.of(holder) : 0;
    add({scope, id, one.index, block, 0},
        StringRef(parsed.names.data() + one.name));
  }
  readsFiles = false;
  isOrdered = false;
}

void InputNames::reached(Operation *op) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  std::lock_guard<std::mutex> lock(mutex);
  if (!readsFiles || !roots.insert(Identities::all().of(op)).second)
    return;
  static FirstCall first;
  readsFiles = first.isSafe([&] { addFromSource(op, 1000); });
  if (!readsFiles)
    return;
  addFromSource(op, std::numeric_limits<size_t>::max());
  isOrdered = false;
}

void InputNames::addFromSource(Operation *root, size_t most) {
  Identities &ids = Identities::all();
  SourceText source;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!most--)
      return WalkResult::interrupt();
    uint32_t id = ids.of(op);
    std::optional<FilePlace> place;
    if (op->getNumResults())
      place = asFilePlace(op->getLoc());
    if (place && id) {
      uint32_t scope =
          op->getParentOp() ? ids.of(scopeOf(op->getParentOp())) : 0;
      source.resultsAt(*place, op->getName().getStringRef(),
                       op->getNumResults(),
                       [&](unsigned first, StringRef name) {
                         add({scope, id, first, 0, 0}, name);
                       });
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addArguments(block, source);
    return WalkResult::advance();
  });
}

void InputNames::addArguments(Block &block, SourceText &source) {
  BlockKeys &keys = BlockKeys::all();
  Identities &ids = Identities::all();
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

void InputNames::inScope(uint32_t scope,
                         llvm::function_ref<void(const Named &)> see) {
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
                          llvm::function_ref<void(const Named &)> see) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  for (const Entry &entry : entries)
    if (nameOf(entry) == name)
      see(describe(entry));
}

} // namespace adbg
