//===- Layout.cpp - Where MLIR's objects keep their parts -----------------===//
//
// Every pointer that is followed is confirmed by one that points back: a node
// of a list names the list's owner, an operand is in the list of uses of its
// value, and the parent of a block is what the tool's own Block::getParentOp
// returns.
//
//===----------------------------------------------------------------------===//

#include "layout/Layout.h"
#include "layout/Proof.h"
#include "support/Traits.h"
#include "support/Without.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"

namespace adbg {

ADBG_OF_INSTANCE Offsets Layout::offsets;
ADBG_OF_INSTANCE std::atomic<bool> Layout::decided{false};
/// Whether the IR that was seen told the layout.
static ADBG_OF_INSTANCE bool isChosen = false;
ADBG_OF_INSTANCE std::string Layout::failures[Layout::checks];

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Reads through a pipe: write() fails for an address that is not readable.
static bool readThroughPipe(const void *from, void *to, size_t size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
    return false;
  ssize_t written = write(ends[1], from, size);
  ssize_t received = written > 0 ? read(ends[0], to, size) : 0;
  close(ends[0]);
  close(ends[1]);
  return received == ssize_t(size);
}

bool readMemory(const void *from, void *to, size_t size) {
  struct iovec target{to, size};
  struct iovec source{const_cast<void *>(from), size};
  ssize_t received = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
  if (received == ssize_t(size))
    return true;
  // A container may forbid the call.
  return received < 0 && (errno == EPERM || errno == ENOSYS) &&
         readThroughPipe(from, to, size);
}

namespace layout {
namespace {

/// An address in the tool's memory.
using Address = uintptr_t;

Address addressOf(const void *pointer) {
  return reinterpret_cast<Address>(pointer);
}

/// The tool's memory, of which any address may be invalid. It is copied by
/// pages: a system call for each word took most of the time.
class Memory {
public:
  template <typename T> std::optional<T> readAt(Address address) {
    alignas(T) char bytes[sizeof(T)];
    if (address % alignof(T) || !copy(address, bytes, sizeof(T)))
      return std::nullopt;
    T value;
    memcpy(static_cast<void *>(&value), bytes, sizeof(T));
    return value;
  }

  std::optional<Address> wordAt(Address address) {
    return readAt<Address>(address);
  }

  /// Reads a text of at most 200 printable characters.
  std::optional<std::string> textAt(Address place) {
    std::optional<Address> begin = wordAt(place), size = wordAt(place + 8);
    if (!begin || !size || *size == 0 || *size > 200)
      return std::nullopt;
    std::string text(*size, 0);
    if (!copy(*begin, text.data(), *size))
      return std::nullopt;
    for (char c : text)
      if (c < 32 || c > 126)
        return std::nullopt;
    return text;
  }

private:
  static constexpr size_t pageSize = 4096;
  /// Null for a page that cannot be read.
  using Page = std::unique_ptr<char[]>;

  bool copy(Address from, char *to, size_t size) {
    while (size) {
      size_t offset = from % pageSize;
      size_t part = std::min(size, pageSize - offset);
      const Page &page = pageAt(from - offset);
      if (!page)
        return false;
      memcpy(to, page.get() + offset, part);
      from += part;
      to += part;
      size -= part;
    }
    return true;
  }

  const Page &pageAt(Address begin) {
    auto [found, isNew] = pages.try_emplace(begin);
    if (isNew) {
      Page page(new char[pageSize]);
      if (readMemory(reinterpret_cast<void *>(begin), page.get(), pageSize))
        found->second = std::move(page);
    }
    return found->second;
  }

  std::unordered_map<Address, Page> pages;
};

/// The head of an operation, as in mlir/IR/Operation.h.
struct Head {
  Address prev, next, block, location;
  uint32_t order, results, successors, counts;
  Address name, attributes;

  uint32_t regions() const { return counts & 0x7fffff; }
  bool hasOperands() const { return counts >> 23 & 1; }
  uint32_t properties() const { return counts >> 24; }
};
static_assert(sizeof(Head) == sizeof(Operation));

struct OperandStorage {
  uint32_t capacity, count;
  Address operands;
};
struct Use {
  Address next, back, owner, value;
};
struct Link {
  Address prev, next;
};

/// Walks IR by one set of offsets and confirms each step.
class Confirmation {
public:
  Confirmation(Memory &memory, const Offsets &offsets)
      : memory(memory), offsets(offsets) {}

  /// Returns false at the first contradiction.
  bool walk(Operation *root) {
    left.push_back(addressOf(root));
    for (size_t i = 0; i < left.size() && i < mostOperations; ++i)
      if (!visit(left[i]))
        return false;
    return true;
  }

  /// Whether there was a block, and one with an operation.
  bool hasBlock = false, hasOperation = false;
  /// Whether the end of a list has a flag.
  bool hasChecks = false;
  /// What contradicts, in values.
  std::string values;

private:
  static constexpr size_t mostOperations = 300, mostNodes = 100;

  bool visit(Address op) {
    std::optional<Head> head = memory.readAt<Head>(op);
    if (!head || head->regions() > 1000 || head->successors > 100000)
      return false;
    Address next = op + sizeof(Head);
    OperandStorage storage{0, 0, 0};
    if (head->hasOperands()) {
      std::optional<OperandStorage> found = memory.readAt<OperandStorage>(next);
      if (!found)
        return false;
      storage = *found;
      next += sizeof(OperandStorage);
    }
    checkValues(op, *head, storage);
    next += head->properties() * 8ul + head->successors * sizeof(BlockOperand);
    for (uint32_t i = 0; i < head->regions(); ++i)
      if (!visitRegion(op, next + uint64_t(i) * offsets.regionSize))
        return false;
    return true;
  }

  /// Calls `visit` with each element of a ring of nodes.
  template <typename Visit>
  bool forEachNode(Address end, size_t offset, Visit visit) {
    std::optional<Link> list = memory.readAt<Link>(end);
    if (!list)
      return false;
    Address last = end, at = list->next;
    for (size_t count = 0; at != end && count < mostNodes; ++count) {
      std::optional<Link> node = memory.readAt<Link>(at);
      if (!node || node->prev != last || !visit(at - offset))
        return false;
      last = at;
      at = node->next;
    }
    hasChecks |= list->prev & 7;
    return at != end || (list->prev & ~Address(7)) == last;
  }

  bool visitRegion(Address op, Address region) {
    if (memory.wordAt(region + offsets.regionParent) != op)
      return false;
    return forEachNode(
        region + offsets.regionBlocks, /*offset=*/8,
        [&](Address block) { return visitBlock(op, region, block); });
  }

  bool visitBlock(Address op, Address region, Address block) {
    std::optional<Address> parent = memory.wordAt(block + 24);
    if (!parent || (*parent & ~Address(7)) != region)
      return false;
    if (tool::parentOfBlock && tool::parentOfBlock(reinterpret_cast<Block *>(
                                   block)) != reinterpret_cast<Operation *>(op))
      return false;
    checkArguments(block);
    hasBlock = true;
    return forEachNode(block + offsets.blockOperations, /*offset=*/0,
                       [&](Address inner) {
                         hasOperation = true;
                         left.push_back(inner);
                         return memory.wordAt(inner + 16) == block;
                       });
  }

  void contradict(const char *what) {
    if (values.empty())
      values = what;
  }

  void checkArguments(Address block) {
    std::optional<Address> begin =
        memory.wordAt(block + offsets.blockArguments);
    std::optional<Address> end =
        memory.wordAt(block + offsets.blockArguments + 8);
    if (!begin || !end || *end < *begin || (*end - *begin) % 8 ||
        *end - *begin > 8ul * 100000)
      return contradict(
          "the arguments of a block are not where they should be");
    for (Address at = *begin; at < *end && at < *begin + 80; at += 8) {
      auto argument = memory.readAt<detail::BlockArgumentImpl *>(at);
      auto found = argument ? memory.readAt<Address>(addressOf(*argument) + 16)
                            : std::nullopt;
      auto kind =
          argument ? memory.wordAt(addressOf(*argument) + 8) : std::nullopt;
      if (found != block || !kind || (*kind & 7) != detail::blockArgument)
        return contradict("an argument of a block does not name the block");
    }
  }

  void checkValues(Address op, const Head &head,
                   const OperandStorage &storage) {
    for (uint32_t i = 0; i < head.results && i < 10; ++i) {
      auto kind = memory.wordAt(
          addressOf(detail::resultOf(reinterpret_cast<void *>(op), i)) + 8);
      unsigned expected = std::min(i, detail::outOfLineResult);
      if (!kind || (*kind & 7) != expected)
        return contradict("a result does not have its number");
    }
    for (uint32_t i = 0; i < storage.count && i < 10; ++i) {
      Address at = storage.operands + i * sizeof(Use);
      std::optional<Use> use = memory.readAt<Use>(at);
      if (!use || use->owner != op)
        return contradict("an operand does not name its operation");
      if (use->value && memory.wordAt(use->back) != at)
        return contradict("an operand is not among the uses of its value");
    }
  }

  Memory &memory;
  Offsets offsets;
  std::vector<Address> left;
};

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

/// The known layouts. Since LLVM 24 a block has a number, and a region the next
/// one.
constexpr Offsets layouts[] = {{24, 0, 16, 32, 48}, {32, 0, 16, 40, 56}};

std::optional<std::string> readName(Memory &memory, Operation *op) {
  std::optional<Address> impl = memory.wordAt(addressOf(op) + 48);
  std::optional<Address> name = impl ? memory.wordAt(*impl + 8) : std::nullopt;
  return name ? memory.textAt(*name + 16) : std::nullopt;
}

/// Finds the name in the class of an attribute that is a string.
uint32_t findClassName(Memory &memory, Operation *op) {
  std::optional<Address> impl = memory.wordAt(addressOf(op) + 48);
  std::optional<Address> name = impl ? memory.wordAt(*impl + 8) : std::nullopt;
  std::optional<Address> abstract = name ? memory.wordAt(*name) : std::nullopt;
  for (uint32_t offset = 8; abstract && offset < 512; offset += 8)
    if (memory.textAt(*abstract + offset) == std::string("builtin.string"))
      return offset;
  return 0;
}

/// Returns why the tool's functions disagree with the text of a location; empty
/// if they do not.
std::string checkLocation(Location location) {
  auto place = dyn_cast<FileLineColRange>(location);
  std::string text = printed(location), expected;
  raw_string_ostream wanted(expected);
  wanted << '"';
  llvm::printEscapedString(place.getFilename().getValue(), wanted);
  wanted << "\":" << place.getStartLine() << ":" << place.getStartColumn();
  if (!StringRef(text).contains(expected))
    return "the location " + text + " is read as " + expected;
  // Each could be taken for the other.
  bool areAlike = place.getStartLine() == place.getStartColumn();
  return areAlike ? Fact::oneTold : "";
}

/// Whether an attribute is not empty: its first words tell.
bool isTelling(AttributeClass kind, const AttributeStorage *attribute) {
  uintptr_t words[4];
  if (!readMemory(attribute, words, sizeof(words)))
    return false;
  if (kind == AttributeClass::String)
    return words[2] && words[3];
  bool isList = kind == AttributeClass::Dictionary ||
                kind == AttributeClass::FusedLocation;
  return !isList || (words[1] && words[2]);
}

/// Returns why a part of an attribute is not what the tool prints of it.
std::string checkPart(StringRef whole, const AttributeStorage *part) {
  std::string text = printed(Attribute(part));
  if (whole.empty())
    return "";
  StringRef inner = text;
  // A nested location is printed without `loc(`. An unknown location may be
  // left out, and a unit attribute is, behind its name.
  if (inner.consume_front("loc("))
    inner = inner.drop_back();
  bool agrees = inner == "unknown" || inner == "unit" || whole.contains(inner);
  return agrees ? "" : "the part " + text + " is not in " + whole.str();
}

std::string checkPart(StringRef whole, const StringStorage *name) {
  std::string text;
  raw_string_ostream os(text);
  llvm::printEscapedString(name->value, os);
  bool agrees = whole.empty() || whole.contains(text);
  return agrees ? "" : "the text " + text + " is not in " + whole.str();
}

template <typename... Parts>
std::string checkParts(StringRef whole, Parts... parts) {
  std::string why;
  ((why.empty() ? why = checkPart(whole, parts) : why), ...);
  return why;
}

/// Returns why the parts that are read of an attribute are not in the text that
/// the tool prints; empty if they are. A tool that prints nothing contradicts
/// nothing here: checkPrinting finds that.
std::string checkStorage(AttributeClass kind,
                         const AttributeStorage *attribute) {
  std::string whole, why;
  if (Layout::offsets.canPrint)
    whole = printed(Attribute(attribute));
  switch (kind) {
  case AttributeClass::String:
    return checkPart(whole, static_cast<const StringStorage *>(attribute));
  case AttributeClass::Dictionary: {
    auto *all = static_cast<const DictionaryStorage *>(attribute);
    for (size_t i = 0; i < all->size && why.empty(); ++i)
      why = checkParts(whole, all->begin[i].name, all->begin[i].value);
    return why;
  }
  case AttributeClass::FileLocation:
    return checkLocation(Location(attribute));
  case AttributeClass::FusedLocation: {
    auto *all = static_cast<const FusedStorage *>(attribute);
    for (size_t i = 0; i < all->size && why.empty(); ++i)
      why = checkPart(whole, all->begin[i]);
    return why;
  }
  case AttributeClass::CallSiteLocation: {
    auto *both = static_cast<const CallSiteStorage *>(attribute);
    return checkParts(whole, both->callee, both->caller);
  }
  case AttributeClass::NameLocation: {
    auto *named = static_cast<const NameStorage *>(attribute);
    return checkParts(whole, named->name, named->child);
  }
  case AttributeClass::OpaqueLocation:
    return checkPart(whole,
                     static_cast<const OpaqueStorage *>(attribute)->fallback);
  case AttributeClass::Other:
  case AttributeClass::UnknownLocation:
    break;
  }
  return "";
}

/// Returns an operation that is quickly printed: `root`, or one in it.
Operation *smallIn(Operation *root) {
  constexpr int most = 200;
  for (Operation *op = root;;) {
    int count = 0;
    if (!firstIn(op, [&](Operation *) { return ++count == most; }))
      return op;
    op = firstIn(op, [&](Operation *one) { return one != op; });
  }
}

OpPrintingFlags plainFlags() {
  // Printers of operations are code of dialects: what fails there says nothing
  // about a layout.
  return OpPrintingFlags()
      .useLocalScope()
      .assumeVerified()
      .printGenericOpForm();
}

/// Returns why the tool does not print an operation, and the attributes and
/// types in it; empty if it does.
std::string checkPrinting(Operation *op) {
  std::string text = printed(*op, plainFlags());
  if (!Layout::failure(Layout::Check::Operations).empty())
    return text.empty() ? "operations are printed as nothing" : "";
  Memory memory;
  std::string name = readName(memory, op).value_or("");
  if (name.empty() || !StringRef(text).contains(name))
    return "the operation " + name + " is printed as '" +
           StringRef(text).split('\n').first.str() + "'";
  op->walk([&](Operation *one) {
    (void)printed(one->getAttrDictionary());
    if (Attribute properties = one->getPropertiesAsAttribute())
      (void)printed(properties);
    for (Value result : one->getResults())
      (void)printed(result.getType());
  });
  return "";
}

/// Returns why the lines of printed operations are not known; empty if they
/// are.
std::string checkLines(Operation *op) {
  std::string why;
  AsmState::LocationMap lines;
  AsmState state(op, plainFlags(), &lines);
  std::string text = printed(*op, state);
  unsigned count = StringRef(text).count('\n') + 1, last = 1;
  op->walk<WalkOrder::PreOrder>([&](Operation *one) {
    auto *found = lines.find(one);
    if (!found || found->second.first < last || found->second.first > count)
      why = "a printed operation has no line";
    else
      last = found->second.first;
  });
  return why;
}

/// Goes up by the tool's own function, which is proved.
Operation *outermost(Memory &memory, Operation *op) {
  for (;;) {
    std::optional<Address> block = memory.wordAt(addressOf(op) + 16);
    if (!block || !*block || !facts::parents.isProved())
      return op;
    Operation *parent = tool::parentOfBlock(reinterpret_cast<Block *>(*block));
    if (!parent)
      return op;
    op = parent;
  }
}

/// Returns why the tool's function does not return the parent of a block.
std::string checkParents(Block *block) {
  for (int depth = 0; depth < 1000; ++depth) {
    Operation *op = block ? tool::parentOfBlock(block) : nullptr;
    if (!op)
      return "";
    block = op->getBlock();
  }
  return "the parents of a block have no end";
}

} // namespace
} // namespace layout

void Layout::fail(Check check, std::string why) {
  failures[static_cast<unsigned>(check)] = std::move(why);
}

/// Reads nothing that the user has switched off.
void Layout::switchOff() {
  for (Check check : {Check::Regions, Check::Values, Check::Locations})
    if (isSwitchedOff(capabilityOf(check)))
      fail(check, switchedOff);
  offsets.hasRegions &= failure(Check::Regions) != switchedOff;
  offsets.hasValues &= failure(Check::Values) != switchedOff;
}

/// Chooses the offsets, for now if the IR has no operation in a block.
void Layout::choose(Operation *op) {
  using namespace layout;
  Memory memory;
  if (!readName(memory, op))
    return fail(Check::Operations, "the name of an operation was not found");
  Operation *root = outermost(memory, op);
  // An empty module tells it, too.
  offsets.className = findClassName(memory, root);
  for (const Offsets &one : layouts) {
    Confirmation confirmation(memory, one);
    if (!confirmation.walk(root))
      continue;
    uint32_t className = offsets.className;
    offsets = one;
    offsets.hasChecks = confirmation.hasChecks;
    offsets.hasValues = confirmation.values.empty();
    offsets.className = className;
    // An empty module tells the layout, but proves nothing of values and of
    // printing; regions without blocks confirm any layout.
    offsets.hasRegions = confirmation.hasBlock;
    isChosen = confirmation.hasOperation;
    if (isChosen)
      fail(Check::Values, confirmation.values);
    return;
  }
  isChosen = true;
  fail(Check::Regions, "regions and blocks do not have a known layout");
  fail(Check::Values, failure(Check::Regions));
  offsets.hasRegions = offsets.hasValues = false;
}

void Layout::calibrate(Operation *op) {
  using namespace layout;
  static std::mutex &mutex = *new std::mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (isDecided())
    return;
  auto chosen = [&]() -> std::string {
    choose(op);
    return failure(Check::Operations);
  };
  if (Block *block = op->getBlock())
    (void)parentOf(block);
  constexpr const char *fact = "layout";
  std::string why;
  if (!ProvedFacts::has(fact))
    why = proveInForks({{nullptr, chosen}}).front();
  if (why.empty()) {
    choose(op);
    why = failure(Check::Operations);
  }
  if (why.empty() && isChosen)
    ProvedFacts::add(fact);
  if (!why.empty()) {
    for (Check check :
         {Check::Operations, Check::Regions, Check::Values, Check::Locations})
      fail(check, why);
    offsets.hasRegions = offsets.hasValues = false;
    isChosen = true;
  }
  if (!isChosen)
    return;
  if (!offsets.className && why.empty())
    fail(Check::Locations, "the names of classes of attributes were not found");
  else if (!tool::fileOf || !tool::lineOf || !tool::columnOf)
    fail(Check::Locations, "the tool has no functions that read a location");
  switchOff();
  const bool wantsPrint = !isSwitchedOff(capabilityOf(Check::Printing));
  auto print = [&]() -> std::string {
    return wantsPrint ? checkPrinting(smallIn(op)) : switchedOff;
  };
  auto line = [&]() -> std::string {
    return wantsPrint ? checkLines(smallIn(op)) : switchedOff;
  };
  std::vector<std::string> proofs =
      proveInForks({{wantsPrint ? "print" : nullptr, print},
                    {wantsPrint ? "lines" : nullptr, line}});
  fail(Check::Printing, proofs[0]);
  fail(Check::Lines, proofs[0].empty() ? proofs[1] : proofs[0]);
  offsets.canPrint = proofs[0].empty();
  offsets.hasLines = failure(Check::Lines).empty();
  decided.store(true, std::memory_order_release);
}

Operation *Layout::parentOf(Block *block) {
  auto check = [&] { return layout::checkParents(block); };
  return tool::parentOfBlock && facts::parents.holds(check)
             ? tool::parentOfBlock(block)
             : nullptr;
}

bool Layout::triesStorage(Fact &fact, AttributeClass kind,
                          const AttributeStorage *attribute) {
  static thread_local const AttributeStorage *last = nullptr, *agreed = nullptr;
  const bool isFile = kind == AttributeClass::FileLocation;
  const bool isText =
      kind == AttributeClass::String || kind == AttributeClass::Dictionary;
  if (attribute == agreed)
    return true;
  if (attribute == last || (!isText && isSwitchedOff("location")) ||
      (isFile && (!tool::fileOf || !tool::lineOf || !tool::columnOf ||
                  !offsets.canPrint)))
    return false;
  // An empty one tells nothing, and is read as nothing.
  if (!layout::isTelling(kind, attribute)) {
    last = attribute;
    return false;
  }
  bool holds =
      fact.holds([&] { return layout::checkStorage(kind, attribute); });
  if (holds && !fact.isProved())
    agreed = attribute;
  if (isFile && fact.isRefuted())
    fail(Check::Locations, fact.why());
  return holds;
}

} // namespace adbg
