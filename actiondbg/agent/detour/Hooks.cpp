//===- Hooks.cpp - Functions of the tool that the agent replaces ----------===//
//
// When an object with MLIR is loaded, only the constructors of its contexts are
// detoured, to a gate. The object gets the agent when it makes its first
// context; at that moment no other function of its MLIR runs, and the object is
// relocated.
//
//===----------------------------------------------------------------------===//

#include "detour/Hooks.h"
#include "detour/Detour.h"
#include "interpose/SeenPrograms.h"
#include "interpose/Versions.h"
#include "layout/Proof.h"
#include "support/AgentHeap.h"
#include "support/Assembly.h"
#include "support/Without.h"

#include <span>

extern "C" {
/// The section of the hooks, from the linker.
extern adbg::Hook __start_adbg_hooks[] __attribute__((visibility("hidden")));
extern adbg::Hook __stop_adbg_hooks[] __attribute__((visibility("hidden")));
/// The begin of the agent in memory; as is _DYNAMIC.
extern const char __ehdr_start __attribute__((visibility("hidden")));
}

//===----------------------------------------------------------------------===//
// The first call of a detoured function
//===----------------------------------------------------------------------===//

/// The target of a crossing that calls adbg_openGate with its arguments kept,
/// then the function that it returns. It has no C++ type: it is a function of
/// any type with at most six arguments in registers, and none of them a
/// floating-point number.
extern "C" void adbg_gate() __attribute__((visibility("hidden")));

/// Returns the function to call for a crossing whose target is a gate.
extern "C" void *adbg_openGate(adbg::detour::Crossing *crossing)
    __attribute__((visibility("hidden"), used));

// The address of the crossing is in r11 or x17.
#if defined(__x86_64__)
ADBG_ASSEMBLY("adbg_gate", "  pushq %rdi\n"
                           "  pushq %rsi\n"
                           "  pushq %rdx\n"
                           "  pushq %rcx\n"
                           "  pushq %r8\n"
                           "  pushq %r9\n"
                           "  pushq %rax\n"
                           ".cfi_adjust_cfa_offset 56\n"
                           "  movq %r11, %rdi\n"
                           "  call adbg_openGate\n"
                           "  movq %rax, %r11\n"
                           "  popq %rax\n"
                           "  popq %r9\n"
                           "  popq %r8\n"
                           "  popq %rcx\n"
                           "  popq %rdx\n"
                           "  popq %rsi\n"
                           "  popq %rdi\n"
                           ".cfi_adjust_cfa_offset -56\n"
                           "  jmp *%r11\n");
#elif defined(__aarch64__)
ADBG_ASSEMBLY("adbg_gate", "  stp x29, x30, [sp, #-96]!\n"
                           ".cfi_adjust_cfa_offset 96\n"
                           ".cfi_offset 29, -96\n"
                           ".cfi_offset 30, -88\n"
                           "  stp x0, x1, [sp, #16]\n"
                           "  stp x2, x3, [sp, #32]\n"
                           "  stp x4, x5, [sp, #48]\n"
                           "  stp x6, x7, [sp, #64]\n"
                           "  str x8, [sp, #80]\n"
                           "  mov x0, x17\n"
                           "  bl adbg_openGate\n"
                           "  mov x16, x0\n"
                           "  ldp x0, x1, [sp, #16]\n"
                           "  ldp x2, x3, [sp, #32]\n"
                           "  ldp x4, x5, [sp, #48]\n"
                           "  ldp x6, x7, [sp, #64]\n"
                           "  ldr x8, [sp, #80]\n"
                           "  ldp x29, x30, [sp], #96\n"
                           ".cfi_restore 29\n"
                           ".cfi_restore 30\n"
                           ".cfi_adjust_cfa_offset -96\n"
                           "  br x16\n");
#else
void adbg_gate() {}
#endif

namespace adbg {

using namespace detour;

//===----------------------------------------------------------------------===//
// Libraries that a program loads later
//===----------------------------------------------------------------------===//

static void (*listener)();

/// Instead of the loader's function.
static void librariesChanged() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT)
    listener();
}

/// Calls `onChange` whenever libraries were loaded or unloaded. New ones are in
/// memory then, but may not be relocated: only their code and their symbols can
/// be used. Returns why that is impossible, or null.
/// The dynamic loader calls an empty function of its own at each change, in
/// which debuggers set a breakpoint. Source: link.h of the C library.
static const char *watchLibraries(void (*onChange)()) {
  listener = onChange;
  auto *function = reinterpret_cast<void *>(_r_debug.r_brk);
  for (const LoadedObject &object : loadedObjects())
    if (object.contains(function))
      return replaceEmpty(object, function,
                          reinterpret_cast<void *>(librariesChanged));
  return "the dynamic loader is not found";
}

//===----------------------------------------------------------------------===//
// Names of functions in other builds
//===----------------------------------------------------------------------===//

namespace {
/// A part of a name, and what is there in another build.
struct NamePart {
  std::string_view now, otherwise;
};
} // namespace

/// The nodes of lists: they know whether they are the sentinel in builds with
/// ABI-breaking checks, their parent since LLVM 20, and bits of iterators since
/// 18. In MLIR 19 LogicalResult moved to LLVM, and in 18 a function got another
/// name.
static constexpr NamePart differing[] = {
    {"Lb0ELb0EvLb0EvEE", "Lb1ELb0EvLb0EvEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb0ELb0EvLb0EEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb1ELb0EvLb0EEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb0ELb0EvEE"},
    {"Lb0ELb0EvLb0EvEE", "Lb1ELb0EvEE"},
    {"NS5_13LogicalResultE", "NS_13LogicalResultE"},
    {"22finalizeOpModification", "18finalizeRootUpdate"},
};

/// Returns the names that a function has in other builds and versions, where it
/// or a class among its parameters has another name there, and nothing else
/// differs. The texts live forever.
static const std::vector<std::string> &otherNames(std::string_view symbol) {
  static auto *known = new std::map<std::string_view, std::vector<std::string>>;
  auto [entry, isNew] = known->try_emplace(symbol);
  for (const NamePart &part : differing) {
    size_t at = symbol.find(part.now);
    if (!isNew || at == symbol.npos)
      continue;
    std::string &other = entry->second.emplace_back(symbol);
    other.replace(at, part.now.size(), part.otherwise);
  }
  return entry->second;
}

/// Adds a name and the other ones; returns the index of the name.
static size_t addNames(SymbolSet &wanted, std::string_view symbol) {
  for (const std::string &other : otherNames(symbol))
    wanted.add(other);
  return wanted.add(symbol);
}

//===----------------------------------------------------------------------===//
// The agent's references to the tool
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
static constexpr uint32_t dataReference = R_X86_64_64,
                          globalReference = R_X86_64_GLOB_DAT,
                          callReference = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
static constexpr uint32_t dataReference = R_AARCH64_ABS64,
                          globalReference = R_AARCH64_GLOB_DAT,
                          callReference = R_AARCH64_JUMP_SLOT;
#else
static constexpr uint32_t dataReference = ~0u, globalReference = ~0u,
                          callReference = ~0u;
#endif

/// Whether a mangled name is of MLIR or LLVM.
static bool isOfTool(std::string_view name) {
  return name.substr(0, 2) == "_Z" &&
         (name.find("4mlir") != name.npos || name.find("4llvm") != name.npos);
}

/// Lists the libraries that an object was linked with.
static std::vector<LoadedObject> neededBy(const LoadedObject &object) {
  auto *names = object.dynamicSection().table<char>(DT_STRTAB);
  std::vector<LoadedObject> needed;
  for (const LoadedObject &other : loadedObjects()) {
    std::string_view path = other.path;
    std::string_view file = path.substr(path.rfind('/') + 1);
    for (auto *entry = object.dynamic; names && entry->d_tag; ++entry)
      if (entry->d_tag == DT_NEEDED && file == names + entry->d_un.d_val)
        needed.push_back(other);
  }
  return needed;
}

static bool isIn(const std::vector<LoadedObject> &objects, uint64_t address) {
  return std::ranges::any_of(objects, [=](const LoadedObject &object) {
    return object.contains(reinterpret_cast<const void *>(address));
  });
}

/// The functions and data of MLIR and LLVM that the agent refers to, and does
/// not define. They are weak, so that the agent loads in any process; here they
/// are given the places that the tool has, whether it exports them or not.
class Binder {
public:
  /// Reads the agent's references, and adds their names to `wanted`.
  explicit Binder(SymbolSet &wanted) {
    auto begin = reinterpret_cast<uint64_t>(&__ehdr_start);
    DynamicSection own{_DYNAMIC, begin, begin};
    auto *symbols = own.table<ElfW(Sym)>(DT_SYMTAB);
    auto *names = own.table<char>(DT_STRTAB);
    auto read = [&](int64_t tag, int64_t sizeTag) {
      std::span all(own.table<ElfW(Rela)>(tag),
                    own.value(sizeTag) / sizeof(ElfW(Rela)));
      for (const ElfW(Rela) &one : all) {
        auto type = static_cast<uint32_t>(ELF64_R_TYPE(one.r_info));
        const ElfW(Sym) &symbol = symbols[ELF64_R_SYM(one.r_info)];
        const char *name = names + symbol.st_name;
        if (symbol.st_shndx != SHN_UNDEF || !isOfTool(name) ||
            (type != dataReference && type != globalReference &&
             type != callReference))
          continue;
        references.push_back(
            {addNames(wanted, name),
             reinterpret_cast<uint64_t *>(begin + one.r_offset),
             type == dataReference ? one.r_addend : 0, type == callReference});
      }
    };
    read(DT_RELA, DT_RELASZ);
    read(DT_JMPREL, DT_PLTRELSZ);
  }

  /// Binds each reference that `object` has a place for, or else a library that
  /// `object` was linked with, or the dynamic loader: but to none of `others`,
  /// which have an MLIR of their own.
  void bind(const LoadedObject &object, const SymbolSet &wanted,
            const SymbolPlaces &places,
            const std::vector<LoadedObject> &others) const {
    std::vector<LoadedObject> needed = neededBy(object);
    std::vector<uint64_t> addresses(wanted.size());
    for (const Reference &reference : references) {
      uint64_t &address = addresses[reference.name];
      std::string_view name = wanted.name(reference.name);
      auto lookUp = [&](size_t number) {
        if (!address && places[number].isKnown())
          address = object.bias + places[number].offset;
        for (size_t i = 0; !address && i < needed.size(); ++i)
          if (SymbolPlace place =
                  needed[i].findExported(wanted.name(number).data());
              place.isKnown())
            address = needed[i].bias + place.offset;
      };
      lookUp(reference.name);
      for (const std::string &other : otherNames(name))
        lookUp(wanted.find(other));
      // A function that is not exported is called at the first use, or never.
      if (!address && reference.isLazy)
        address = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, name.data()));
      if (isIn(others, address))
        address = 0;
      if (address)
        *reference.place = address + reference.addend;
      else if (isIn(others, *reference.place))
        *reference.place = 0;
    }
  }

  /// The names of the references by number in `wanted`, and whether the MLIR
  /// of the current instance has each.
  std::vector<std::pair<size_t, bool>> bound() const {
    std::vector<std::pair<size_t, bool>> all;
    for (const Reference &reference : references)
      all.push_back({reference.name, *reference.place != 0});
    return all;
  }
  /// The places that hold the references.
  std::vector<uint64_t *> places() const {
    std::vector<uint64_t *> all;
    for (const Reference &reference : references)
      all.push_back(reference.place);
    return all;
  }

private:
  struct Reference {
    size_t name;
    uint64_t *place;
    int64_t addend;
    /// Whether the loader binds it at the first call only.
    bool isLazy;
  };
  std::vector<Reference> references;
};

//===----------------------------------------------------------------------===//
// Pointers to functions in tables
//===----------------------------------------------------------------------===//

/// A function, and what is called instead.
using Redirection = std::pair<uint64_t, uint64_t>;

/// Replaces pointers to functions in an object's tables of virtual functions.
/// A compiler may inline a virtual function where it guesses the class: it
/// compares such a pointer with the function that it knows, and calls nothing
/// if they are equal. The object must be relocated.
static void redirectPointers(const LoadedObject &object,
                             std::vector<Redirection> redirections) {
  uint64_t page = sysconf(_SC_PAGESIZE);
  // What the loader makes read-only is whole pages.
  uint64_t begin = (object.constantsBegin + page - 1) / page * page;
  uint64_t end = object.constantsEnd / page * page;
  if (begin >= end || redirections.empty())
    return;
  std::ranges::sort(redirections);
  auto *memory = reinterpret_cast<void *>(begin);
  bool isWritable = false;
  uint64_t first = redirections.front().first;
  uint64_t last = redirections.back().first;
  for (auto *word = reinterpret_cast<uint64_t *>(begin);
       word < reinterpret_cast<uint64_t *>(end); ++word) {
    if (__builtin_expect(*word < first || *word > last, true))
      continue;
    auto it =
        std::ranges::lower_bound(redirections, *word, {}, &Redirection::first);
    if (it == redirections.end() || it->first != *word)
      continue;
    if (!isWritable &&
        mprotect(memory, end - begin, PROT_READ | PROT_WRITE) != 0)
      return;
    isWritable = true;
    *word = it->second;
  }
  if (isWritable)
    mprotect(memory, end - begin, PROT_READ);
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

static std::span<Hook> hooks() {
  return {__start_adbg_hooks, __stop_adbg_hooks};
}

/// What every object with MLIR has, and inlines nowhere.
static const char *const markOfMlir = ADBG_EXECUTE;
/// Objects with less in memory have no MLIR.
static constexpr uint64_t leastOfMlir = 1 << 20;
/// Smaller objects without the names of MLIR are not looked into: most
/// processes load some.
static constexpr uint64_t leastOfUnnamed = 8 << 20;

static bool makesContext(std::string_view symbol) {
  return symbol.substr(0, 22) == "_ZN4mlir11MLIRContextC";
}

/// Whether the first call of the function attaches the agent. A program that
/// loads the agent late may have its contexts already.
static bool isGate(std::string_view symbol) {
  return makesContext(symbol) || symbol == ADBG_RUN_PASSES;
}

//===----------------------------------------------------------------------===//
// Attaching
//===----------------------------------------------------------------------===//

/// Attaches the agent to the objects that make contexts.
class Attacher {
public:
  static Attacher &get() {
    // The tool's memory stays where it is without the agent: the order in which
    // it visits a hash table follows from addresses.
    AgentHeap agentHeap;
    static Attacher *attacher = new Attacher;
    return *attacher;
  }

  /// Gates objects that were loaded since, and forgets those that are gone.
  void objectsChanged() {
    AgentHeap agentHeap;
    std::lock_guard<std::recursive_mutex> lock(mutex);
    std::vector<LoadedObject> loaded = loadedObjects();
    std::erase_if(
        gated, [&](const Gated &one) { return !isAmong(loaded, one.object); });
    std::erase_if(
        known, [&](const LoadedObject &one) { return !isAmong(loaded, one); });
    for (LoadedObject &object : loaded)
      if (!isAmong(known, object)) {
        known.push_back(object);
        gate(object);
      }
  }

  /// Lists what the agent refers to in the MLIR of the current instance.
  std::vector<ToolFunction> called() const {
    std::map<size_t, bool> found;
    for (auto [name, isBound] : binder.bound())
      found[name] |= isBound;
    std::vector<ToolFunction> result;
    for (auto [name, isBound] : found)
      result.push_back({wanted.name(name), isBound ? "called" : "absent"});
    return result;
  }

  /// For forks of the program, in which the thread that looks at libraries
  /// would be missing.
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }
  /// Makes the mutex anew: its owner is the parent's thread, which the fork
  /// does not have. Code that a signal handler has interrupted may unlock the
  /// mutex again, which the C library ignores.
  void unlockInFork() { new (&mutex) std::recursive_mutex; }

  void *open(Crossing *crossing) {
    AgentHeap agentHeap;
    std::lock_guard<std::recursive_mutex> lock(mutex);
    // Another thread may have opened it meanwhile.
    if (crossing->target != reinterpret_cast<void *>(adbg_gate))
      return crossing->target;
    for (Gated &one : gated)
      for (const Gate &gate : one.gates)
        if (gate.crossing == crossing) {
          attachOrPass(one);
          return crossing->target;
        }
    // Of an object that was unloaded; its code cannot run.
    return crossing->original;
  }

private:
  struct Gate {
    Crossing *crossing;
    Hook *hook;
  };
  struct Gated {
    LoadedObject object;
    SymbolPlaces places;
    std::vector<Gate> gates;
  };

  Attacher() : binder(wanted) {
    mark = wanted.add(markOfMlir);
    for (Hook &hook : hooks()) {
      addNames(wanted, hook.symbol);
      hook.isPatient = isGate(hook.symbol) ||
                       std::string_view(hook.symbol) == ADBG_HAS_HANDLER;
    }
    Instances::all().watch(binder.places());
  }

  /// Returns the place of a hook's function, by its own name or another one.
  const SymbolPlace &placeOf(const Gated &one, const Hook &hook) const {
    const SymbolPlace &place = one.places[wanted.find(hook.symbol)];
    if (!place.isKnown())
      for (const std::string &other : otherNames(hook.symbol))
        if (one.places[wanted.find(other)].isKnown())
          return one.places[wanted.find(other)];
    return place;
  }

  static bool isAmong(const std::vector<LoadedObject> &objects,
                      const LoadedObject &object) {
    return std::ranges::any_of(objects, [&](const LoadedObject &other) {
      return other.begin == object.begin && other.path == object.path;
    });
  }

  void gate(const LoadedObject &object) {
    if (object.end - object.begin < leastOfMlir || object.path.empty())
      return;
    if (!object.findExported(markOfMlir).isKnown() &&
        !object.hasHiddenSymbols())
      return noteLibrary(object);
    Gated one{object, object.find(wanted), {}};
    if (!one.places[mark].isKnown())
      return noteLibrary(object);
    {
      Detours detours(one.object);
      for (Hook &hook : hooks()) {
        const SymbolPlace &place = placeOf(one, hook);
        if (!isGate(hook.symbol) || !place.isKnown())
          continue;
        auto &crossing = const_cast<Crossing &>(
            detours.add(place, reinterpret_cast<void *>(adbg_gate)));
        one.gates.push_back({&crossing, &hook});
      }
    }
    // The jumps are written at the end of the block.
    if (!one.gates.empty() &&
        std::ranges::all_of(
            one.gates, [](const Gate &gate) { return gate.crossing->refusal; }))
      sayUnobserved(object, one.gates.front().crossing->refusal);
    gated.push_back(std::move(one));
    if (gated.size() > 1)
      Instances::becomeSeveral();
  }

  /// Notes an object that may hold an MLIR whose functions have no names, or
  /// other ones: the front end looks into its file if nothing was observed.
  static void noteLibrary(const LoadedObject &object) {
    if (object.end - object.begin >= leastOfUnnamed)
      noteLoaded(object.path.c_str());
  }

  void attachOrPass(Gated &one) {
    if (runsUnobserved())
      return leave(one);
    Instances &instances = Instances::all();
    for (unsigned i = 0; i < instances.count(); ++i)
      if (instances.fileOf(i) == one.object.path)
        return pass(one, "it made a context before, was unloaded, and is "
                         "loaded again");
    if (instances.count() == Instances::most)
      return pass(one, "the process has too many libraries with MLIR");
    if (Instances::hasUnnotedUse())
      return pass(one, "another thread runs an action of another MLIR");
    unsigned number = instances.add(one.object.path);
    InstanceUse use(number, /*isPatient=*/true);
    if (use)
      return attach(one, number);
    instances.removeNewest();
    pass(one, "another thread runs functions of another MLIR");
  }

  /// Gives the agent to an object, whose instance is current.
  void attach(Gated &one, unsigned number) {
    binder.bind(one.object, wanted, one.places, others(one.object));
    ProvedFacts::open(one.object.path, one.object.buildId);
    std::vector<std::pair<Hook *, const Crossing *>> crossings;
    for (const Gate &gate : one.gates)
      crossings.push_back({gate.hook, gate.crossing});
    {
      Detours detours(one.object);
      for (Hook &hook : hooks()) {
        const SymbolPlace &found = placeOf(one, hook);
        Hook::Place &place = hook.place();
        if (!found.isKnown()) {
          place.refusal = "the tool has no such function";
          continue;
        }
        place.original =
            reinterpret_cast<void *>(one.object.bias + found.offset);
        if (isGate(hook.symbol))
          continue;
        if (const char *why = whyNotWanted(hook.symbol))
          place.refusal = why;
        else
          crossings.push_back(
              {&hook, &detours.add(found, hook.functions[number])});
      }
    }
    std::vector<Redirection> redirections;
    for (auto [hook, crossing] : crossings) {
      Hook::Place &place = hook->place();
      place.refusal = crossing->refusal;
      if (crossing->refusal)
        continue;
      redirections.push_back(
          {reinterpret_cast<uint64_t>(place.original),
           reinterpret_cast<uint64_t>(hook->functions[number])});
      place.original = crossing->original;
    }
    redirectPointers(one.object, std::move(redirections));
    for (const Gate &gate : one.gates)
      gate.crossing->target = gate.hook->functions[number];
  }

  /// Lists the objects with an MLIR of their own.
  std::vector<LoadedObject> others(const LoadedObject &object) const {
    std::vector<LoadedObject> result;
    for (const Gated &one : gated)
      if (one.object.begin != object.begin)
        result.push_back(one.object);
    return result;
  }

  /// Leaves an object alone.
  void leave(Gated &one) {
    for (const Gate &gate : one.gates)
      gate.crossing->target = gate.crossing->original;
  }

  /// Leaves an object alone, and says why.
  void pass(Gated &one, const char *why) {
    leave(one);
    sayUnobserved(one.object, why);
  }

  static void sayUnobserved(const LoadedObject &object, const char *why) {
    fprintf(stderr, "actiondbg: the MLIR in %s runs unobserved: %s\n",
            object.path.c_str(), why);
  }

  /// A signal handler may fork this thread.
  std::recursive_mutex mutex;
  SymbolSet wanted;
  Binder binder;
  size_t mark = 0;
  std::vector<LoadedObject> known;
  std::vector<Gated> gated;
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

bool isInterposed(std::string_view symbol) {
  for (const Hook &hook : hooks())
    if (hook.symbol == symbol)
      return hook.place().original && !hook.place().refusal;
  return false;
}

std::vector<const Hook *> refusedHooks() {
  std::vector<const Hook *> refused;
  for (const Hook &hook : hooks())
    if (hook.place().refusal)
      refused.push_back(&hook);
  return refused;
}

std::vector<ToolFunction> toolFunctions() {
  std::vector<ToolFunction> result = Attacher::get().called();
  for (const Hook &hook : hooks()) {
    const Hook::Place &place = hook.place();
    const char *state = place.refusal ? place.refusal : "replaced";
    result.push_back({hook.symbol, place.original ? state : "absent"});
  }
  return result;
}

/// Runs when the agent is loaded, before the program's own code: the program
/// and the libraries that it is linked with are in memory.
__attribute__((constructor)) static void watchForMlir() {
  Attacher::get().objectsChanged();
  pthread_atfork([] { Attacher::get().lock(); },
                 [] { Attacher::get().unlock(); },
                 [] { Attacher::get().unlockInFork(); });
  // Without it, libraries that are loaded later run unobserved.
  AgentHeap agentHeap;
  watchLibraries([] { Attacher::get().objectsChanged(); });
}

} // namespace adbg

void *adbg_openGate(adbg::detour::Crossing *crossing) {
  return adbg::Attacher::get().open(crossing);
}
