//===- Symbols.cpp - Names of functions and classes in memory -------------===//
//
// Sources: elf(5); the build id's path and .gnu_debuglink are described in
// "Debugging Information in Separate Files" of gdb's manual.
//
//===----------------------------------------------------------------------===//

#include "support/Symbols.h"
#include "detour/LoadedObjects.h"
#include "support/OwnFiles.h"

#include "llvm/ADT/StringExtras.h"
#include <cxxabi.h>

namespace adbg {

using detour::ElfFile;

//===----------------------------------------------------------------------===//
// Loaded files
//===----------------------------------------------------------------------===//

namespace {
struct Search {
  uintptr_t address;
  Place found;
};
} // namespace

static int visitObject(struct dl_phdr_info *object, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  const char *header = nullptr;
  const ElfW(Phdr) *within = nullptr;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD)
      continue;
    uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_offset == 0)
      header = reinterpret_cast<const char *>(begin);
    if (search.address >= begin && search.address < begin + segment.p_memsz)
      within = &segment;
  }
  if (!within)
    return 0;
  // The program itself comes first, without a name.
  const char *path = object->dlpi_name && *object->dlpi_name ? object->dlpi_name
                                                             : "/proc/self/exe";
  search.found = {path, object->dlpi_addr, header,
                  (within->p_flags & PF_X) != 0};
  return 1;
}

Place Place::of(const void *address) {
  Search search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(visitObject, &search);
  return search.found;
}

std::string Place::offsetOf(const void *address) const {
  std::string target = path == "/proc/self/exe" ? readLink(path) : "";
  StringRef file = target.empty() ? path : target;
  uintptr_t offset = reinterpret_cast<uintptr_t>(address) - bias;
  return file.rsplit('/').second.str() + "+0x" +
         llvm::utohexstr(offset, /*isLowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Symbol tables
//===----------------------------------------------------------------------===//

namespace {

/// The addresses of the symbols of one table. Few are sought: reading them in
/// turn takes less time than sorting them.
class Table {
public:
  Table(const ElfFile &file, const Elf64_Shdr &section)
      : texts(file.textsOf(section)) {
    size_t count = file.sizeOf(section) / sizeof(Elf64_Sym);
    addresses.reserve(count);
    names.reserve(count);
    file.visit<Elf64_Sym>(section, [this](const Elf64_Sym &one) {
      unsigned type = ELF64_ST_TYPE(one.st_info);
      if (one.st_shndx == SHN_UNDEF || !one.st_name ||
          (type != STT_FUNC && type != STT_OBJECT))
        return;
      addresses.push_back(one.st_value);
      names.push_back(one.st_name);
    });
  }

  std::string find(const ElfFile &file, uint64_t address) const {
    auto found = std::ranges::find(addresses, address);
    if (found == addresses.end())
      return "";
    return file.textIn(texts, names[found - addresses.begin()]);
  }

private:
  Elf64_Shdr texts;
  std::vector<uint64_t> addresses;
  /// The offsets of the names among the texts.
  std::vector<uint32_t> names;
};

/// The symbols of a loaded file, read as far as needed.
class Symbols {
public:
  explicit Symbols(const Place &place)
      : path(place.path), header(place.header) {}

  std::string find(uint64_t address) {
    ElfFile file(path);
    // A file that was replaced since it was loaded has other addresses.
    if (!file.hasHeader(header))
      return "";
    std::string name = findIn(dynamic, file, SHT_DYNSYM, address);
    if (name.empty())
      name = findIn(all, file, SHT_SYMTAB, address);
    if (!name.empty() || file.find(SHT_SYMTAB))
      return name;
    if (!debugPath)
      debugPath = findDebug(file);
    return debugPath->empty()
               ? ""
               : findIn(ofDebug, ElfFile(*debugPath), SHT_SYMTAB, address);
  }

private:
  static std::string findIn(std::optional<Table> &table, const ElfFile &file,
                            uint32_t type, uint64_t address) {
    const Elf64_Shdr *section = file.find(type);
    if (!section)
      return "";
    if (!table)
      table.emplace(file, *section);
    return table->find(file, address);
  }

  /// Returns the path of the separate debug file; empty if there is none.
  std::string findDebug(ElfFile &file) const {
    const std::string global = "/usr/lib/debug";
    std::string folder = realFolder();
    std::vector<std::string> paths;
    if (const Elf64_Shdr *note = file.find(".note.gnu.build-id"))
      if (std::string id = detour::buildIdIn(file.contentOf<char>(*note));
          id.size() > 2)
        paths.push_back(global + "/.build-id/" + id.substr(0, 2) + "/" +
                        id.substr(2) + ".debug");
    if (const Elf64_Shdr *link = file.find(".gnu_debuglink"))
      if (std::string name = file.textIn(*link, 0); !name.empty())
        for (std::string where : {folder, folder + "/.debug", global + folder})
          paths.push_back(where.append("/").append(name));
    for (const std::string &one : paths)
      if (isOfOneBuild(file, ElfFile(one)))
        return one;
    return "";
  }

  std::string realFolder() const {
    std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr),
                                                free);
    return real ? StringRef(real.get()).rsplit('/').first.str() : "";
  }

  /// A debug file has the sections of the program, without their content.
  static bool isOfOneBuild(const ElfFile &file, const ElfFile &debug) {
    const Elf64_Shdr *mine = file.find(".text"), *its = debug.find(".text");
    return mine && its && mine->sh_addr == its->sh_addr &&
           mine->sh_size == its->sh_size;
  }

  std::string path;
  const char *header;
  std::optional<std::string> debugPath;
  std::optional<Table> dynamic, all, ofDebug;
};

} // namespace

std::string symbolAt(const void *address) {
  // Never destroyed: the tool may dispatch in static destructors.
  static std::mutex &mutex = *new std::mutex;
  static auto &files = *new std::map<std::string, Symbols>;
  Place place = Place::of(address);
  if (!place.isKnown())
    return "";
  std::lock_guard<std::mutex> guard(mutex);
  Symbols &symbols = files.try_emplace(place.path, place).first->second;
  return symbols.find(reinterpret_cast<uintptr_t>(address) - place.bias);
}

//===----------------------------------------------------------------------===//
// Readable names
//===----------------------------------------------------------------------===//

static constexpr StringRef anonymous = "(anonymous namespace)";

/// Returns the size of the bracket at the beginning of `text`, nested ones
/// included.
static size_t bracketSize(StringRef text) {
  int nesting = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    nesting += StringRef("(<{[").contains(text[i]);
    nesting -= StringRef(")>}]").contains(text[i]);
    if (!nesting)
      return i + 1;
  }
  return text.size();
}

/// Returns `lambda1` for `{lambda(...)#1}`.
static std::string lambdaName(StringRef bracket) {
  StringRef name = bracket.drop_front().take_while(llvm::isAlpha);
  StringRef number = bracket.rsplit('#').second.take_while(llvm::isDigit);
  return name + number;
}

/// Drops parameters, and what a compiler adds to names: `[clone .isra.0]`.
static std::string withoutParameters(StringRef name) {
  std::string plain;
  while (!name.empty()) {
    if (name.consume_front(anonymous)) {
      plain += anonymous;
    } else if (name.front() == '<') {
      size_t size = bracketSize(name);
      plain += name.take_front(size);
      name = name.drop_front(size);
    } else if (name.front() == '{') {
      size_t size = bracketSize(name);
      plain += lambdaName(name.take_front(size));
      name = name.drop_front(size);
    } else if (name.front() == '(' || name.front() == '[') {
      name = name.drop_front(bracketSize(name));
    } else {
      plain += name.front();
      name = name.drop_front();
    }
  }
  return plain;
}

/// Drops the result type of a template's instance, which precedes its name.
static StringRef withoutResult(StringRef name) {
  size_t start = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(anonymous))
      i += anonymous.size() - 1;
    else if (name[i] == '<')
      i += bracketSize(name.substr(i)) - 1;
    else if (name[i] == ' ')
      start = i + 1;
  }
  return name.drop_front(start);
}

std::string readableName(StringRef symbol) {
  // A thin link-time optimization makes unique names of static functions.
  std::string mangled = symbol.split(".llvm.").first.str();
  std::unique_ptr<char, decltype(&free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr), free);
  if (!text)
    return "";
  StringRef demangled = text.get();
  demangled.consume_front("vtable for ");
  demangled = demangled.split(" [clone ").first;
  std::string plain = withoutParameters(demangled);
  StringRef name = StringRef(plain).rtrim();
  name.consume_back(" const");
  // The functions that compilers make of lambdas, for their addresses.
  if (!name.consume_back("::_FUN"))
    name.consume_back("::__invoke");
  return withoutResult(name).str();
}

} // namespace adbg
