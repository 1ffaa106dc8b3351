#include "interpose/ActionHandler.h"
#include "observe/PatternChecks.h"
#include "support/Without.h"

namespace adbg {

namespace {
/// Until LLVM 18 it returned whether the match succeeded.
using Notify = uintptr_t(void *, Location, function_ref<void(Diagnostic &)>);
/// Of an operation, and for an insertion the block and the place before: two
/// words, which are passed in registers.
using NotifyOperation = void(void *, Operation *, void *, void *);

/// The order of the virtual functions of RewriterBase::Listener is the same in
/// LLVM 19 to 24; a table that has one of the functions elsewhere refutes it.
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

/// A rewriter, and what it points to. The rewriter's own virtual table is the
/// first member.
struct RewriterLayout {
  const void *table;
  const void *context;
  struct Listener *listener;
};
enum class ListenerKind : int { OfBuilder = 0, OfRewriter = 1 };
struct Listener {
  const void *table;
  ListenerKind kind;
};
} // namespace

static ADBG_OF_INSTANCE std::atomic<bool> isUnknown{false};

/// Whether a table has a function of the tool's class in another place than
/// expected. One that a listener overrides is in none.
static bool isElsewhere(const CopiedTable &copy, void (*function)(void *),
                        unsigned place) {
  auto *begin = copy.words + before;
  auto *found = std::find(begin, begin + matchFailure + 10,
                          reinterpret_cast<const void *>(function));
  return function && found != begin + matchFailure + 10 &&
         found != begin + place;
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

static uintptr_t notify(void *self, Location location,
                        function_ref<void(Diagnostic &)> reasonOf) {
  const auto *table = static_cast<Listener *>(self)->table;
  auto *copy = reinterpret_cast<const CopiedTable *>(
      static_cast<const void *const *>(table) - before);
  uintptr_t result = copy->original(self, location, reasonOf);
  if (LLVM_LIKELY(isLocation(location)))
    noteReason(location, reasonOf);
  else
    isUnknown = true;
  return result;
}

template <unsigned place>
static void notifyOperation(void *self, Operation *op, void *block,
                            void *point) {
  const auto *table = static_cast<Listener *>(self)->table;
  auto *copy = reinterpret_cast<const CopiedTable *>(
      static_cast<const void *const *>(table) - before);
  noteHeard(op);
  copy->operations[place](self, op, block, point);
}

/// Lets the checks of patterns hear what a listener is told at one place.
template <unsigned place> static void hear(CopiedTable &copy) {
  const void *&word = copy.words[before + place];
  copy.operations[place] =
      reinterpret_cast<NotifyOperation *>(reinterpret_cast<uintptr_t>(word));
  word = reinterpret_cast<const void *>(&notifyOperation<place>);
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
  // Before LLVM 19 they were fewer; in other builds the function may be there
  // and not exported.
  bool isOld = tool::matchAndRewriteTo19 && !tool::notifyPatternBegin;
  if (isOld || isElsewhere(*copy, &tool::notifyPatternBegin, patternBegin) ||
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
static const CopiedTable *copyOf(const void *table) {
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

ReasonListener::ReasonListener(PatternRewriter &rewriter) {
  auto &layout = reinterpret_cast<RewriterLayout &>(rewriter);
  static const bool isWanted = !isSwitchedOff("reasons");
  if (LLVM_UNLIKELY(!isWanted))
    return;
  if (LLVM_UNLIKELY(isUnknown || !Contexts::has(layout.context))) {
    isUnknown = true;
    return;
  }
  Listener *one = layout.listener;
  if (!one || one->kind != ListenerKind::OfRewriter)
    return;
  auto *first = static_cast<const void *const *>(one->table);
  // A conversion applies patterns inside of patterns with one listener.
  if (first[matchFailure] == reinterpret_cast<const void *>(&notify))
    return;
  const CopiedTable *copy = copyOf(one->table);
  if (LLVM_UNLIKELY(isUnknown))
    return;
  listener = one;
  table = one->table;
  one->table = copy->table();
  PatternChecks::isHearing = true;
}

ReasonListener::~ReasonListener() {
  if (!listener)
    return;
  static_cast<Listener *>(listener)->table = table;
  PatternChecks::isHearing = false;
}

} // namespace adbg
