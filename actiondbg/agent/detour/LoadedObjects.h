//===- LoadedObjects.h - Programs and libraries in memory -------*- C++ -*-===//

#pragma once

#include "support/System.h"

#include "llvm/Support/xxhash.h"
#include <elf.h>
#include <link.h>

namespace adbg::detour {

/// Whose files are trusted.
enum class Writers { Anybody, ThisUser };

/// A file, mapped for reading while this exists; empty if that fails.
class MappedFile {
public:
  /// With `ThisUser`, a file is as good as missing that others than this user
  /// and root may have written.
  explicit MappedFile(const char *path, Writers writers = Writers::Anybody) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return;
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size > 0 &&
        (writers == Writers::Anybody || isPrivate(status))) {
      void *mapped =
          mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (mapped != MAP_FAILED) {
        bytes = static_cast<const char *>(mapped);
        size = status.st_size;
      }
    }
    close(fd);
  }
  ~MappedFile() {
    if (bytes)
      munmap(const_cast<char *>(bytes), size);
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  /// Returns `count` objects at an offset; null if the file ends before.
  template <typename T> const T *at(uint64_t offset, uint64_t count = 1) const {
    if (offset > size || count > (size - offset) / sizeof(T))
      return nullptr;
    return reinterpret_cast<const T *>(bytes + offset);
  }
  std::string_view text() const { return {bytes, size}; }

private:
  static bool isPrivate(const struct stat &status) {
    return S_ISREG(status.st_mode) &&
           (status.st_uid == 0 || status.st_uid == geteuid()) &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
  }

  const char *bytes = nullptr;
  size_t size = 0;
};

/// An ELF file; one without sections if it is none. It is read, not mapped: a
/// mapping would crash the tool if the file shrank. Closed after each search,
/// as the tool's forks look after all open files.
class ElfFile {
public:
  explicit ElfFile(const std::string &path)
      : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
      return;
    size = status.st_size;
    if (!readInto(&header, sizeof(header), 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof(ElfW(Shdr)))
      return;
    sections =
        read<ElfW(Shdr)>(header.e_shoff, header.e_shnum * sizeof(ElfW(Shdr)));
    if (header.e_shstrndx < sections.size())
      names = contentOf<char>(sections[header.e_shstrndx]);
  }
  ElfFile(const ElfFile &) = delete;
  ElfFile &operator=(const ElfFile &) = delete;
  ~ElfFile() {
    for (std::span<char> part : parts)
      munmap(part.data(), part.size());
    if (fd >= 0)
      close(fd);
  }

  /// Whether the header of an object in memory is the header of this file.
  bool hasHeader(const char *loaded) const {
    return !sections.empty() && loaded &&
           memcmp(loaded, &header, sizeof(header)) == 0;
  }
  /// Returns the first section of a type, or with a name; null without one.
  const ElfW(Shdr) * find(uint32_t type) const {
    for (const ElfW(Shdr) &one : sections)
      if (one.sh_type == type && one.sh_link < sections.size())
        return &one;
    return nullptr;
  }
  const ElfW(Shdr) * find(std::string_view name) const {
    for (const ElfW(Shdr) &one : sections)
      if (one.sh_name < names.size() &&
          std::string_view(names.data() + one.sh_name,
                           strnlen(names.data() + one.sh_name,
                                   names.size() - one.sh_name)) == name)
        return &one;
    return nullptr;
  }
  /// Returns the texts of a table that `find` returned.
  const ElfW(Shdr) & textsOf(const ElfW(Shdr) & table) const {
    return sections[table.sh_link];
  }
  /// Returns the size of a section's content; 0 if the file lacks it.
  uint64_t sizeOf(const ElfW(Shdr) & section) const {
    bool isThere = section.sh_type != SHT_NOBITS && section.sh_size <= size &&
                   section.sh_offset <= size - section.sh_size;
    return isThere ? section.sh_size : 0;
  }
  /// Returns what a section holds, as long as this exists; nothing if the file
  /// lacks it.
  template <typename Item>
  std::span<const Item> contentOf(const ElfW(Shdr) & section) {
    return read<Item>(section.sh_offset, sizeOf(section));
  }
  /// Visits the items of a section that may be large.
  template <typename Item, typename Visitor>
  void visit(const ElfW(Shdr) & section, Visitor visitor) const {
    Item items[1024];
    uint64_t all = sizeOf(section);
    for (uint64_t at = 0; at < all; at += sizeof(items)) {
      uint64_t piece = std::min<uint64_t>(sizeof(items), all - at);
      if (!readInto(items, piece, section.sh_offset + at))
        return;
      for (const Item &one : std::span(items, piece / sizeof(Item)))
        visitor(one);
    }
  }
  /// Returns a text of a section, which ends with a zero; empty if it is not
  /// there.
  std::string textIn(const ElfW(Shdr) & texts, uint64_t offset) const {
    std::string text;
    char piece[256];
    for (uint64_t end = sizeOf(texts); offset < end;) {
      uint64_t most = std::min<uint64_t>(sizeof(piece), end - offset);
      if (!readInto(piece, most, texts.sh_offset + offset))
        break;
      size_t length = strnlen(piece, most);
      text.append(piece, length);
      if (length < most)
        return text;
      offset += most;
    }
    return "";
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
  std::span<const Item> read(uint64_t offset, uint64_t bytes) {
    if (!bytes || bytes > size || offset > size - bytes)
      return {};
    void *part = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED)
      return {};
    parts.emplace_back(static_cast<char *>(part), bytes);
    if (!readInto(part, bytes, offset))
      return {};
    return {static_cast<const Item *>(part), bytes / sizeof(Item)};
  }

  int fd;
  uint64_t size = 0;
  ElfW(Ehdr) header = {};
  /// What was read, which is unmapped at the end.
  std::vector<std::span<char>> parts;
  std::span<const ElfW(Shdr)> sections;
  std::span<const char> names;
};

/// Returns the build-id among the notes of an ELF file, as a hexadecimal
/// number; empty if it has none.
std::string buildIdIn(std::span<const char> notes);

/// A symbol of an object: relative to where the object is loaded.
struct SymbolPlace {
  uint64_t offset = 0;
  uint64_t size = 0;

  bool isKnown() const { return offset != 0; }
};

/// Mangled names that are looked up together. The names must live as long.
class SymbolSet {
public:
  // Few names for each bucket: most of what is looked up is not there.
  SymbolSet() { indices.max_load_factor(0.125); }

  /// Adds a name; returns its index. The same name has one index.
  size_t add(std::string_view name) {
    auto [entry, isNew] = indices.try_emplace(name, names.size());
    if (isNew)
      names.push_back(name);
    return entry->second;
  }
  /// Returns the index of a name, or `none`.
  size_t find(std::string_view name) const {
    auto entry = indices.find(name);
    return entry == indices.end() ? none : entry->second;
  }
  static constexpr size_t none = ~size_t(0);

  size_t size() const { return names.size(); }
  std::string_view name(size_t index) const { return names[index]; }
  /// A hash of all names in their order.
  uint64_t hash() const {
    uint64_t hash = names.size();
    for (std::string_view name : names)
      hash = (hash ^ llvm::xxh3_64bits({name.data(), name.size()})) *
             0x9e3779b97f4a7c15;
    return hash;
  }

private:
  std::vector<std::string_view> names;
  std::unordered_map<std::string_view, size_t> indices;
};

/// Where the names of a set are; by index.
using SymbolPlaces = std::vector<SymbolPlace>;

/// The dynamic section of an object in memory.
struct DynamicSection {
  /// Null if there is none.
  const ElfW(Dyn) *entries = nullptr;
  /// The address of the object, and the distance of its addresses in memory
  /// from the addresses in its file.
  uint64_t begin = 0, bias = 0;

  /// The value of the entry with a tag; 0 without one.
  uint64_t value(int64_t tag) const {
    for (const ElfW(Dyn) *entry = entries; entry && entry->d_tag; ++entry)
      if (entry->d_tag == tag)
        return entry->d_un.d_val;
    return 0;
  }
  /// The table that such an entry leads to; null without one.
  template <typename T> const T *table(int64_t tag) const {
    uint64_t address = value(tag);
    // The loader adds the bias, but not before it has relocated the object.
    if (address && address < begin)
      address += bias;
    return reinterpret_cast<const T *>(address);
  }
};

/// Takes a mangled name, and its symbol.
using SymbolVisitor = std::function<void(const char *, const ElfW(Sym) &)>;

/// An ELF program or library in this process.
struct LoadedObject {
  /// The file.
  std::string path;
  /// Added to addresses in the file.
  uint64_t bias = 0;
  /// The addresses in memory.
  uint64_t begin = 0, end = 0;
  /// The largest part that is code.
  uint64_t codeBegin = 0, codeEnd = 0;
  /// The part that is read-only once it is relocated.
  uint64_t constantsBegin = 0, constantsEnd = 0;
  /// Empty if it has none.
  std::string buildId;
  /// The dynamic section in memory; null if there is none.
  const ElfW(Dyn) *dynamic = nullptr;

  bool contains(const void *address) const {
    auto place = reinterpret_cast<uint64_t>(address);
    return place >= begin && place < end;
  }
  DynamicSection dynamicSection() const { return {dynamic, begin, bias}; }
  /// Looks up names in the file's table of symbols, hidden ones too; without
  /// such a table, in that of dynamic symbols. A name that the object only
  /// refers to is not found. The result is kept in the folder
  /// $ACTIONDBG_CACHE, if there is one.
  SymbolPlaces find(const SymbolSet &wanted) const;
  /// Looks up an exported name, without reading the file.
  SymbolPlace findExported(const char *name) const;
  /// Whether the file has a table of symbols that are not exported.
  bool hasHiddenSymbols() const;
  /// Looks up names in the tables of the file.
  SymbolPlaces findInFile(const SymbolSet &wanted) const;
  /// Visits all mangled names that the object defines, in the same tables.
  void visitSymbols(const SymbolVisitor &visit) const;
};

/// Lists what is loaded, in the order of the dynamic loader, without the object
/// that this code is in.
std::vector<LoadedObject> loadedObjects();

} // namespace adbg::detour
