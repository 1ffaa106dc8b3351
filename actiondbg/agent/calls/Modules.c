#include "Calls.h"

#include <elf.h>
#include <stdio.h>
#include <sys/uio.h>

enum {
  MostVersions = 64,
  MostExports = 1 << 16,
  MostSymbols = 1 << 16,
  MostSegments = 64,
  NameSize = 512
};

// Offsets in iree_hal_executable_library_v0_t.
enum { ExportCount = 24, ExportPointers = 32 };

Protect *realProtect;

/// The last ELF header that this thread made readable.
static __thread const char *lastHeader;

/// Copies memory that may not be there; false if it is not.
static bool peek(void *to, const void *from, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)from, size};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (long)size)
    return true;
  // Old containers forbid it; what a loader has just mapped can be read.
  if (errno != EPERM && errno != ENOSYS)
    return false;
  uintptr_t page = (uintptr_t)from & ~(uintptr_t)4095;
  if (msync((void *)page, (uintptr_t)from + size - page, MS_ASYNC) != 0)
    return false;
  memcpy(to, from, size);
  return true;
}

/// Copies a text; false if it is not there, or not ended within NameSize.
static bool peekText(char to[NameSize], const char *from) {
  if (!from)
    return false;
  for (size_t size = 0; size < NameSize;) {
    // Up to the end of a 16-byte block: the next page may be missing.
    size_t part = 16 - (uintptr_t)(from + size) % 16;
    if (part > NameSize - size)
      part = NameSize - size;
    if (!peek(to + size, from + size, part))
      return false;
    if (memchr(to + size, 0, part))
      return true;
    size += part;
  }
  return false;
}

/// Returns the protection of a page; -1 if it is not mapped.
static int protectionOf(const void *address) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return -1;
  char line[512];
  int found = -1;
  while (found < 0 && fgets(line, sizeof line, maps)) {
    char *end;
    uintptr_t low = strtoul(line, &end, 16);
    uintptr_t high = *end == '-' ? strtoul(end + 1, &end, 16) : 0;
    if ((uintptr_t)address >= low && (uintptr_t)address < high && *end == ' ')
      found = (end[1] == 'r' ? PROT_READ : 0) |
              (end[2] == 'w' ? PROT_WRITE : 0) |
              (end[3] == 'x' ? PROT_EXEC : 0);
  }
  fclose(maps);
  return found;
}

/// Replaces pointers, whose pages may be read-only.
static bool replace(void **pointers, void *const *by, uint32_t count) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = (uintptr_t)pointers & ~(page - 1);
  uintptr_t end = ((uintptr_t)(pointers + count) + page - 1) & ~(page - 1);
  for (uintptr_t at = begin; at < end; at += page) {
    int before = protectionOf((void *)at);
    if (before < 0)
      return false;
    bool writable = before & PROT_WRITE;
    if (!writable && realProtect((void *)at, page, before | PROT_WRITE) != 0)
      return false;
    for (uint32_t i = 0; i < count; ++i)
      if ((uintptr_t)(pointers + i) - at < page)
        pointers[i] = by[i];
    if (!writable)
      realProtect((void *)at, page, before);
  }
  return true;
}

/// Returns the offset of the table of names; 0 if it is not known.
static uint32_t offsetOfNames(uint32_t version) {
  return version == 6 ? 64 : version >= 2 && version <= 5 ? 48 : 0;
}

/// Reads the name of an export, or makes one of its number.
static void nameOf(char name[NameSize], const char *table, uint32_t version,
                   uint32_t index, const char *library) {
  const char *const *names = NULL;
  const char *text = NULL;
  uint32_t offset = offsetOfNames(version);
  if (offset && peek(&names, table + offset, sizeof names) && names &&
      peek(&text, names + index, sizeof text) && peekText(name, text) && *name)
    return;
  snprintf(name, NameSize, "%.400s:%u", library, index);
}

static void countTable(const char *table) {
  const char *header = NULL, *text = NULL;
  char library[NameSize] = "", name[NameSize];
  uint32_t version = 0, count = 0;
  void **pointers = NULL;
  if (!peek(&header, table, sizeof header) ||
      !peek(&version, header, sizeof version) ||
      !peek(&text, header + 8, sizeof text) || !peekText(library, text) ||
      !peek(&count, table + ExportCount, sizeof count) ||
      !peek(&pointers, table + ExportPointers, sizeof pointers) ||
      count > MostExports) {
    addNote("A library of IREE has an unknown table, its calls were not ",
            "counted", ".");
    return;
  }
  size_t size = count * sizeof(void *);
  void **before = malloc(2 * size + 1), **after = before + count;
  if (!before || !peek(before, pointers, size)) {
    free(before);
    addNote("The table of a library could not be read: ", library, ".");
    return;
  }
  bool changed = false;
  lock();
  for (uint32_t i = 0; i < count; ++i) {
    after[i] = before[i];
    // A library that is looked up twice has been counted.
    if (!before[i] || isEntry(before[i]))
      continue;
    nameOf(name, table, version, i, library);
    void *entry = entryOf(Dispatch, before[i], library, name);
    if (entry) {
      after[i] = entry;
      changed = true;
    }
  }
  if (changed && !replace(pointers, after, count))
    addNote("The table of a library could not be written: ", library, ".");
  unlock();
  free(before);
}

void countLibrary(void *query) {
  if (!openProcess())
    return;
  const void *(*function)(uint32_t, const void *) =
      (const void *(*)(uint32_t, const void *))query;
  // A library answers to the version that it was built with.
  for (uint32_t version = 0; version < MostVersions; ++version) {
    const void *table = function(version, NULL);
    if (table) {
      countTable(table);
      return;
    }
  }
  addNote("A library of IREE has an unknown version, its calls were not ",
          "counted", ".");
}

/// The dynamic section of a loaded ELF file.
struct Dynamic {
  const char *bias;
  const Elf64_Sym *symbols;
  const char *strings;
  uint32_t count;
};

/// Finds the tables of symbols; false if the file is not understood.
static bool readDynamic(const char *header, const void *code,
                        struct Dynamic *out) {
  Elf64_Ehdr file;
  if (!peek(&file, header, sizeof file) ||
      file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_type != ET_DYN ||
      file.e_machine != EM_X86_64 || file.e_phnum > MostSegments)
    return false;
  Elf64_Phdr segments[MostSegments];
  if (!peek(segments, header + file.e_phoff, file.e_phnum * sizeof *segments))
    return false;
  const Elf64_Phdr *dynamic = NULL;
  bool holds = false;
  uint64_t first = 0;
  for (unsigned i = 0; i < file.e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
      first = segments[i].p_vaddr;
  out->bias = header - first;
  for (unsigned i = 0; i < file.e_phnum; ++i) {
    const Elf64_Phdr *one = &segments[i];
    if (one->p_type == PT_DYNAMIC)
      dynamic = one;
    uint64_t at = (uint64_t)((const char *)code - out->bias);
    // The code begins in this segment, or in the page before.
    holds |= one->p_type == PT_LOAD && (one->p_flags & PF_X) &&
             at + 4096 > one->p_vaddr && at < one->p_vaddr + one->p_memsz;
  }
  if (!dynamic || !holds)
    return false;
  const char *hash = NULL;
  out->symbols = NULL;
  out->strings = NULL;
  uint64_t entries = dynamic->p_memsz / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < entries && i < 256; ++i) {
    Elf64_Dyn entry;
    if (!peek(&entry, out->bias + dynamic->p_vaddr + i * sizeof entry,
              sizeof entry) ||
        entry.d_tag == DT_NULL)
      break;
    const char *at = out->bias + entry.d_un.d_ptr;
    if (entry.d_tag == DT_SYMTAB)
      out->symbols = (const Elf64_Sym *)at;
    else if (entry.d_tag == DT_STRTAB)
      out->strings = at;
    else if (entry.d_tag == DT_HASH)
      hash = at;
  }
  if (!out->symbols || !out->strings)
    return false;
  // Linkers put the strings behind the symbols.
  if (!hash || !peek(&out->count, hash + 4, sizeof out->count))
    out->count = out->strings > (const char *)out->symbols
                     ? (uint32_t)((out->strings - (const char *)out->symbols) /
                                  (long)sizeof(Elf64_Sym))
                     : 0;
  return out->count && out->count <= MostSymbols;
}

/// Returns the query function of a loaded ELF file; NULL if it has none.
static void *findQuery(const char *header, const void *code) {
  struct Dynamic dynamic;
  if (!readDynamic(header, code, &dynamic))
    return NULL;
  for (uint32_t i = 0; i < dynamic.count; ++i) {
    Elf64_Sym symbol;
    char name[NameSize];
    if (!peek(&symbol, dynamic.symbols + i, sizeof symbol))
      return NULL;
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_name &&
        peekText(name, dynamic.strings + symbol.st_name) &&
        !strcmp(name, IREE_QUERY))
      return (void *)(dynamic.bias + symbol.st_value);
  }
  return NULL;
}

void seeProtected(void *address, size_t size, int protection) {
  int before = errno;
  char magic[SELFMAG];
  if (size >= sizeof(Elf64_Ehdr) && peek(magic, address, SELFMAG) &&
      !memcmp(magic, ELFMAG, SELFMAG))
    lastHeader = address;
  if ((protection & PROT_EXEC) && lastHeader) {
    void *query = findQuery(lastHeader, address);
    if (query) {
      lastHeader = NULL;
      countLibrary(query);
    }
  }
  errno = before;
}
