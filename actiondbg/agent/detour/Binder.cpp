#include "detour/Binder.h"

/// The begin of the agent in memory, from the linker; as is _DYNAMIC.
extern "C" const char __ehdr_start __attribute__((visibility("hidden")));

namespace adbg::detour {

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

namespace {
/// The agent's dynamic section.
struct OwnTables {
  uint64_t bias = reinterpret_cast<uint64_t>(&__ehdr_start);
  const ElfW(Rela) *relocations = nullptr, *calls = nullptr;
  size_t relocationBytes = 0, callBytes = 0;
  const ElfW(Sym) *symbols = nullptr;
  const char *names = nullptr;

  OwnTables() {
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag; ++entry) {
      uint64_t value = entry->d_un.d_ptr;
      // The loader adds the bias where the section can be written.
      auto *address =
          reinterpret_cast<const char *>(value < bias ? value + bias : value);
      switch (entry->d_tag) {
      case DT_RELA:
        relocations = reinterpret_cast<const ElfW(Rela) *>(address);
        break;
      case DT_RELASZ:
        relocationBytes = value;
        break;
      case DT_JMPREL:
        calls = reinterpret_cast<const ElfW(Rela) *>(address);
        break;
      case DT_PLTRELSZ:
        callBytes = value;
        break;
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym) *>(address);
        break;
      case DT_STRTAB:
        names = address;
        break;
      default:
        break;
      }
    }
  }
};
} // namespace

Binder::Binder(SymbolSet &wanted) {
  OwnTables own;
  auto read = [&](const ElfW(Rela) *relocations, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela) &relocation = relocations[i];
      auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
      const ElfW(Sym) &symbol = own.symbols[ELF64_R_SYM(relocation.r_info)];
      const char *name = own.names + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF || !isOfTool(name) ||
          (type != dataReference && type != globalReference &&
           type != callReference))
        continue;
      for (const std::string &other : otherNames(name))
        wanted.add(other);
      references.push_back(
          {wanted.add(name),
           reinterpret_cast<uint64_t *>(own.bias + relocation.r_offset),
           type == dataReference ? static_cast<int64_t>(relocation.r_addend)
                                 : 0,
           type == callReference});
    }
  };
  read(own.relocations, own.relocationBytes);
  read(own.calls, own.callBytes);
}

/// Lists the libraries that an object was linked with.
static std::vector<LoadedObject> neededBy(const LoadedObject &object) {
  const char *names = nullptr;
  for (const ElfW(Dyn) *entry = object.dynamic; entry && entry->d_tag; ++entry)
    if (entry->d_tag == DT_STRTAB) {
      uint64_t address = entry->d_un.d_ptr;
      names = reinterpret_cast<const char *>(
          address < object.begin ? address + object.bias : address);
    }
  std::vector<LoadedObject> needed;
  for (const LoadedObject &other : loadedObjects()) {
    std::string_view path = other.path;
    std::string_view file = path.substr(path.rfind('/') + 1);
    for (const ElfW(Dyn) *entry = object.dynamic; entry && entry->d_tag;
         ++entry)
      if (entry->d_tag == DT_NEEDED && names &&
          file == names + entry->d_un.d_val)
        needed.push_back(other);
  }
  return needed;
}

std::vector<uint64_t *> Binder::places() const {
  std::vector<uint64_t *> all;
  for (const Reference &reference : references)
    all.push_back(reference.place);
  return all;
}

std::vector<std::pair<size_t, bool>> Binder::bound() const {
  std::vector<std::pair<size_t, bool>> all;
  for (const Reference &reference : references)
    all.push_back({reference.name, *reference.place != 0});
  return all;
}

static bool isIn(const std::vector<LoadedObject> &objects, uint64_t address) {
  for (const LoadedObject &object : objects)
    if (object.contains(reinterpret_cast<const void *>(address)))
      return true;
  return false;
}

void Binder::bind(const LoadedObject &object, const SymbolSet &wanted,
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

const std::vector<std::string> &otherNames(std::string_view symbol) {
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

} // namespace adbg::detour
