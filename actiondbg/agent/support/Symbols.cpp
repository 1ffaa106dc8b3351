//===- Symbols.cpp - Names of functions and classes in memory -------------===//
//
// Sources: elf(5); the build id's path and .gnu_debuglink are described in
// "Debugging Information in Separate Files" of gdb's manual.
//
//===----------------------------------------------------------------------===//

#include "support/Symbols.h"

#include "llvm/ADT/StringExtras.h"
#include <cxxabi.h>
#include <elf.h>
#include <link.h>

namespace adbg {

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
  std::string file = path;
  char target[4096];
  if (path == "/proc/self/exe")
    if (ssize_t size = readlink(path.c_str(), target, sizeof(target)); size > 0)
      file.assign(target, size);
  uintptr_t offset = reinterpret_cast<uintptr_t>(address) - bias;
  return StringRef(file).rsplit('/').second.str() + "+0x" +
         llvm::utohexstr(offset, /*isLowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Symbol tables
//===----------------------------------------------------------------------===//

namespace {

/// An open ELF file. It is read, not mapped: a mapping would crash the tool if
/// the file shrank. Closed after each search, as the tool's forks look after
/// all open files.
class File {
public:
  explicit File(const std::string &path)
      : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
      return;
    size = status.st_size;
    if (!readInto(&header, sizeof(header), 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr))
      return;
    sections = readTable<Elf64_Shdr>(header.e_shoff,
                                     header.e_shnum * sizeof(Elf64_Shdr));
    if (header.e_shstrndx < sections.size())
      names = readSection<char>(sections[header.e_shstrndx]);
  }
  File(const File &) = delete;
  ~File() {
    if (fd >= 0)
      close(fd);
  }

  bool isOpen() const { return !sections.empty(); }
  bool hasHeader(const char *loaded) const {
    return loaded && memcmp(loaded, &header, sizeof(header)) == 0;
  }
  const Elf64_Shdr *find(uint32_t type) const {
    for (const Elf64_Shdr &one : sections)
      if (one.sh_type == type)
        return &one;
    return nullptr;
  }
  const Elf64_Shdr *find(StringRef name) const {
    for (const Elf64_Shdr &one : sections)
      if (textIn(names, one.sh_name) == name)
        return &one;
    return nullptr;
  }
  const Elf64_Shdr *at(uint32_t index) const {
    return index < sections.size() ? &sections[index] : nullptr;
  }
  template <typename Item>
  std::vector<Item> readSection(const Elf64_Shdr &section) const {
    return readTable<Item>(section.sh_offset, sizeOf(section));
  }
  /// Returns the size of a section's content; 0 if the file lacks it.
  uint64_t sizeOf(const Elf64_Shdr &section) const {
    return section.sh_type != SHT_NOBITS && section.sh_size <= size &&
                   section.sh_offset <= size - section.sh_size
               ? section.sh_size
               : 0;
  }
  /// Visits the items of a section that may be large.
  template <typename Item, typename Visit>
  void visit(const Elf64_Shdr &section, Visit visit) const {
    Item items[1024];
    uint64_t all = sizeOf(section);
    for (uint64_t at = 0; at < all; at += sizeof(items)) {
      uint64_t piece = std::min<uint64_t>(sizeof(items), all - at);
      if (!readInto(items, piece, section.sh_offset + at))
        return;
      for (const Item &one : ArrayRef(items, piece / sizeof(Item)))
        visit(one);
    }
  }
  /// Reads a text that ends with a zero.
  std::string readText(const Elf64_Shdr &section, uint64_t offset) const {
    std::string text;
    char piece[256];
    uint64_t end = sizeOf(section);
    while (offset < end) {
      uint64_t most = std::min<uint64_t>(sizeof(piece), end - offset);
      if (!readInto(piece, most, section.sh_offset + offset))
        break;
      size_t length = strnlen(piece, most);
      text.append(piece, length);
      if (length < most)
        return text;
      offset += most;
    }
    return "";
  }
  static StringRef textIn(const std::vector<char> &texts, uint64_t offset) {
    if (offset >= texts.size())
      return "";
    const char *text = texts.data() + offset;
    return {text, strnlen(text, texts.size() - offset)};
  }

private:
  bool readInto(void *to, uint64_t bytes, uint64_t offset) const {
    auto *next = static_cast<char *>(to);
    while (bytes) {
      ssize_t got = pread(fd, next, bytes, offset);
      if (got <= 0)
        return false;
      next += got;
      offset += got;
      bytes -= got;
    }
    return true;
  }
  template <typename Item>
  std::vector<Item> readTable(uint64_t offset, uint64_t bytes) const {
    if (bytes > size || offset > size - bytes)
      return {};
    std::vector<Item> items(bytes / sizeof(Item));
    if (!readInto(items.data(), items.size() * sizeof(Item), offset))
      return {};
    return items;
  }

  int fd;
  uint64_t size = 0;
  Elf64_Ehdr header = {};
  std::vector<Elf64_Shdr> sections;
  std::vector<char> names;
};

/// The addresses of the symbols of one table. Few are sought: reading them in
/// turn takes less time than sorting them.
class Table {
public:
  Table(const File &file, const Elf64_Shdr &section) {
    const Elf64_Shdr *linked = file.at(section.sh_link);
    if (!linked)
      return;
    texts = *linked;
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

  std::string find(const File &file, uint64_t address) const {
    auto found = std::ranges::find(addresses, address);
    if (found == addresses.end())
      return "";
    return file.readText(texts, names[found - addresses.begin()]);
  }

private:
  Elf64_Shdr texts = {};
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
    File file(path);
    // A file that was replaced since it was loaded has other addresses.
    if (!file.isOpen() || !file.hasHeader(header))
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
               : findIn(ofDebug, File(*debugPath), SHT_SYMTAB, address);
  }

private:
  static std::string findIn(std::optional<Table> &table, const File &file,
                            uint32_t type, uint64_t address) {
    const Elf64_Shdr *section = file.find(type);
    if (!section)
      return "";
    if (!table)
      table.emplace(file, *section);
    return table->find(file, address);
  }

  /// Returns the path of the separate debug file; empty if there is none.
  std::string findDebug(const File &file) const {
    const std::string global = "/usr/lib/debug";
    std::string folder = realFolder();
    std::vector<std::string> paths;
    if (std::string id = buildId(file); id.size() > 2)
      paths.push_back(global + "/.build-id/" + id.substr(0, 2) + "/" +
                      id.substr(2) + ".debug");
    if (const Elf64_Shdr *link = file.find(".gnu_debuglink"))
      if (std::string name = file.readText(*link, 0); !name.empty())
        for (std::string where : {folder, folder + "/.debug", global + folder})
          paths.push_back(where.append("/").append(name));
    for (const std::string &one : paths)
      if (isOfOneBuild(file, File(one)))
        return one;
    return "";
  }

  std::string realFolder() const {
    std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr),
                                                free);
    return real ? StringRef(real.get()).rsplit('/').first.str() : "";
  }

  static std::string buildId(const File &file) {
    const Elf64_Shdr *section = file.find(".note.gnu.build-id");
    if (!section)
      return "";
    // The header of the note, and the name "GNU" with its zero.
    constexpr size_t before = sizeof(Elf64_Nhdr) + 4;
    std::vector<uint8_t> note = file.readSection<uint8_t>(*section);
    if (note.size() <= before)
      return "";
    return llvm::toHex(ArrayRef(note).drop_front(before),
                       /*isLowerCase=*/true);
  }

  /// A debug file has the sections of the program, without their content.
  static bool isOfOneBuild(const File &file, const File &debug) {
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
