//===- LoadedObjects.cpp - Programs and libraries in memory ---------------===//
//
// Source of the formats: System V ABI, "Object Files", and the GNU hash table
// as binutils write it.
//
//===----------------------------------------------------------------------===//

#include "detour/LoadedObjects.h"
#include "support/OwnFiles.h"

#include "llvm/ADT/StringExtras.h"

namespace adbg::detour {

//===----------------------------------------------------------------------===//
// What is loaded
//===----------------------------------------------------------------------===//

std::string buildIdIn(std::span<const char> notes) {
  const char *note = notes.data(), *end = note + notes.size();
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    memcpy(&header, note, sizeof(header));
    const char *name = note + sizeof(header);
    const char *value = name + ((header.n_namesz + 3) & ~3u);
    note = value + ((header.n_descsz + 3) & ~3u);
    if (note <= end && header.n_type == NT_GNU_BUILD_ID &&
        header.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
      return llvm::toHex(
          {reinterpret_cast<const uint8_t *>(value), header.n_descsz},
          /*isLowerCase=*/true);
  }
  return "";
}

static int addObject(dl_phdr_info *info, size_t, void *list) {
  LoadedObject object;
  object.bias = info->dlpi_addr;
  object.begin = ~uint64_t(0);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    uint64_t begin = object.bias + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      object.begin = std::min(object.begin, begin);
      object.end = std::max(object.end, begin + header.p_memsz);
      if ((header.p_flags & PF_X) &&
          header.p_memsz > object.codeEnd - object.codeBegin) {
        object.codeBegin = begin;
        object.codeEnd = begin + header.p_memsz;
      }
    } else if (header.p_type == PT_DYNAMIC) {
      object.dynamic = reinterpret_cast<const ElfW(Dyn) *>(begin);
    } else if (header.p_type == PT_GNU_RELRO) {
      object.constantsBegin = begin;
      object.constantsEnd = begin + header.p_memsz;
    } else if (header.p_type == PT_NOTE && object.buildId.empty()) {
      object.buildId =
          buildIdIn({reinterpret_cast<const char *>(begin), header.p_memsz});
    }
  }
  static const char self = 0;
  if (object.contains(&self))
    return 0;
  object.path = info->dlpi_name;
  auto &objects = *static_cast<std::vector<LoadedObject> *>(list);
  // The program's own entry has no name.
  if (object.path.empty() && objects.empty())
    object.path = readLink("/proc/self/exe");
  objects.push_back(std::move(object));
  return 0;
}

std::vector<LoadedObject> loadedObjects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(addObject, &objects);
  return objects;
}

//===----------------------------------------------------------------------===//
// Exported symbols, in memory
//===----------------------------------------------------------------------===//

static uint32_t gnuHash(const char *name) {
  uint32_t hash = 5381;
  for (; *name; ++name)
    hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

SymbolPlace LoadedObject::findExported(const char *name) const {
  DynamicSection section = dynamicSection();
  auto *table = section.table<uint32_t>(DT_GNU_HASH);
  auto *symbols = section.table<ElfW(Sym)>(DT_SYMTAB);
  auto *names = section.table<char>(DT_STRTAB);
  if (!table || !symbols || !names || !table[0])
    return {};
  uint32_t bucketCount = table[0], first = table[1], bloomCount = table[2];
  const uint32_t *buckets =
      table + 4 + bloomCount * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t *chain = buckets + bucketCount;
  uint32_t hash = gnuHash(name);
  uint32_t index = buckets[hash % bucketCount];
  if (index < first)
    return {};
  for (;; ++index) {
    uint32_t other = chain[index - first];
    if ((other | 1) == (hash | 1) && symbols[index].st_shndx != SHN_UNDEF &&
        strcmp(names + symbols[index].st_name, name) == 0)
      return {symbols[index].st_value, symbols[index].st_size};
    if (other & 1)
      return {};
  }
}

//===----------------------------------------------------------------------===//
// Symbols that were found before
//===----------------------------------------------------------------------===//

namespace {
/// The file in the folder $ACTIONDBG_CACHE with the places of symbols in one
/// build of an object, whose stripped copies have files of their own. Without
/// the folder, or a build-id, there is none.
class SymbolCache {
public:
  SymbolCache(const std::string &object, const std::string &buildId,
              const SymbolSet &wanted)
      : count(wanted.size()) {
    const char *folder = getenv("ACTIONDBG_CACHE");
    struct stat status;
    if (!folder || !*folder || buildId.empty() ||
        stat(object.c_str(), &status) != 0)
      return;
    char hash[17];
    snprintf(hash, sizeof(hash), "%016llx",
             static_cast<unsigned long long>(wanted.hash()));
    path = std::string(folder) + "/symbols-" + buildId + "-" +
           std::to_string(status.st_size) + "-" + hash;
  }

  /// Returns false if there is no file of this kind, or other users may have
  /// written it: what is in it is called.
  bool read(SymbolPlaces &places) const {
    if (path.empty())
      return false;
    MappedFile file(path.c_str(), Writers::ThisUser);
    auto *kept = file.at<SymbolPlace>(0, count);
    if (!kept)
      return false;
    places.assign(kept, kept + count);
    return file.text() == withSum(places);
  }

  /// A file that cannot be written is not missed.
  void write(const SymbolPlaces &places) const {
    if (path.empty())
      return;
    std::string draft = path + "." + std::to_string(getpid());
    int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
      return;
    std::string text = withSum(places);
    FileLimit limit;
    bool isWhole = ::write(fd, text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size());
    close(fd);
    if (!isWhole || rename(draft.c_str(), path.c_str()) != 0)
      unlink(draft.c_str());
  }

private:
  /// Returns the content of the file. A disk that lost power may keep its size
  /// and lose the rest.
  static std::string withSum(const SymbolPlaces &places) {
    std::string text(reinterpret_cast<const char *>(places.data()),
                     places.size() * sizeof(SymbolPlace));
    return text + std::to_string(llvm::xxh3_64bits(text));
  }

  std::string path;
  size_t count;
};
} // namespace

//===----------------------------------------------------------------------===//
// All symbols, in the file
//===----------------------------------------------------------------------===//

bool LoadedObject::hasHiddenSymbols() const {
  return ElfFile(path).find(SHT_SYMTAB);
}

void LoadedObject::visitSymbols(const SymbolVisitor &visit) const {
  ElfFile file(path);
  // The full table has what the table of dynamic symbols has.
  const ElfW(Shdr) *table = file.find(SHT_SYMTAB);
  if (!table)
    table = file.find(SHT_DYNSYM);
  if (!table)
    return;
  const ElfW(Shdr) &texts = file.textsOf(*table);
  std::span names = file.contentOf<char>(texts);
  if (names.empty() || names.back() != '\0')
    return;
  file.visit<ElfW(Sym)>(*table, [&](const ElfW(Sym) &symbol) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE ||
        symbol.st_name >= names.size())
      return;
    const char *name = names.data() + symbol.st_name;
    if (name[0] == '_' && name[1] == 'Z')
      visit(name, symbol);
  });
}

SymbolPlaces LoadedObject::findInFile(const SymbolSet &wanted) const {
  SymbolPlaces places(wanted.size());
  visitSymbols([&](const char *name, const ElfW(Sym) &symbol) {
    size_t index = wanted.find(name);
    if (index == SymbolSet::none)
      return;
    // Of a local and a global symbol of the same name, the global one.
    bool isLocal = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
    if (!places[index].isKnown() || !isLocal)
      places[index] = {symbol.st_value, symbol.st_size};
  });
  return places;
}

SymbolPlaces LoadedObject::find(const SymbolSet &wanted) const {
  SymbolCache cache(path, buildId, wanted);
  SymbolPlaces places;
  if (cache.read(places))
    return places;
  places = findInFile(wanted);
  cache.write(places);
  return places;
}

} // namespace adbg::detour
