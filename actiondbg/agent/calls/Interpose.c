//===- Interpose.c - Functions of libc: modules, ends, processes ----------===//
//
// IREE's own loader maps a library with mmap and mprotect; the system's is
// asked with dlsym, as is the loader of kernels.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define EXPORTED __attribute__((visibility("default")))
#define IREE_QUERY "iree_hal_executable_library_query"
#define KERNEL_PREFIX "_mlir_ciface_"

typedef void *Lookup(void *, const char *);
typedef int Protect(void *, size_t, int);
typedef int Unmap(void *, size_t);

static Lookup *realLookup;
static Protect *realProtect;
static Unmap *realUnmap;

/// Finds the functions of libc. Constructors of other libraries may call ours
/// before start().
static void findReal(void) {
  if (realLookup)
    return;
  Lookup *lookup = (Lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!lookup)
    lookup = (Lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  realProtect = (Protect *)lookup(RTLD_NEXT, "mprotect");
  realUnmap = (Unmap *)lookup(RTLD_NEXT, "munmap");
  realLookup = lookup;
}

//===----------------------------------------------------------------------===//
// Executable libraries of IREE
//
// An executable library exports a function that returns its table of
// dispatches. The pointers in the table are replaced. What is not understood
// is left as it is, and noted.
//===----------------------------------------------------------------------===//

enum {
  MostVersions = 64,
  MostExports = 1 << 16,
  MostSymbols = 1 << 16,
  MostSegments = 64,
  NameSize = 512
};

// Offsets in iree_hal_executable_library_v0_t.
enum { ExportCount = 24, ExportPointers = 32 };

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

/// Counts the dispatches of a library, given its query function.
static void countLibrary(void *query) {
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

/// Looks at memory that became readable or executable: IREE's own loader
/// makes first the header of a library readable, then its code executable.
static void seeProtected(void *address, size_t size, int protection) {
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

//===----------------------------------------------------------------------===//
// The end of a counted program
//===----------------------------------------------------------------------===//

extern char **environ;

enum { MostVariables = 4096 };

/// Removes the folder of standalone counting.
static void removeDirectory(void) {
  DIR *directory = opendir(settings.directory);
  if (!directory)
    return;
  for (struct dirent *file; (file = readdir(directory));)
    if (*file->d_name != '.')
      unlinkat(dirfd(directory), file->d_name, 0);
  closedir(directory);
  rmdir(settings.directory);
}

/// Runs "actiondbg kernels count DIRECTORY", without this library.
static bool runReport(void) {
  static char *variables[MostVariables];
  static char path[2 * MaxPath];
  size_t count = 0;
  const char *found = getenv("PYTHONPATH");
  snprintf(path, sizeof path, "PYTHONPATH=%s%s%s", settings.root,
           found ? ":" : "", found ? found : "");
  for (char **one = environ; *one && count < MostVariables - 2; ++one)
    if (strncmp(*one, "LD_PRELOAD=", 11) && strncmp(*one, "PYTHONPATH=", 11))
      variables[count++] = *one;
  variables[count] = path;
  char *arguments[] = {(char *)settings.python,
                       "-m",
                       "actiondbg",
                       "kernels",
                       "count",
                       "--by-thread",
                       settings.directory,
                       NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // The program's standard output stays as it is.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child;
  int status = -1;
  bool started = posix_spawn(&child, settings.python, &actions, NULL, arguments,
                             variables) == 0;
  posix_spawn_file_actions_destroy(&actions);
  return started && waitpid(child, &status, 0) == child && status == 0;
}

/// Prints why nothing could be counted, or the statistics of standalone
/// counting.
static void reportAtEnd(void) {
  if (problemError)
    fprintf(stderr,
            "actiondbg: Calls were not counted: '%s' cannot be written (%s).\n",
            problem, strerror(problemError));
  else if (*problem)
    fprintf(stderr, "actiondbg: Calls were not counted: %s.\n", problem);
  // A fork is reported by its parent.
  if (!image || !image->token || !ownsDirectory())
    return;
  if (settings.unknownEvent)
    fprintf(stderr,
            "actiondbg: There is no event '%s': IREE_HOOK_LIST_EVENT_TYPES=1 "
            "lists them.\n",
            settings.unknownEvent);
  if (!image->threads)
    removeDirectory();
  else if (settings.python && settings.root && runReport())
    removeDirectory();
  else
    fprintf(stderr,
            "actiondbg: 'actiondbg kernels count %s' prints the statistics.\n",
            settings.directory);
}

//===----------------------------------------------------------------------===//
// Functions of libc
//===----------------------------------------------------------------------===//

__attribute__((constructor)) static void start(void) {
  findReal();
  readSettings();
  startProcess();
  startThreads();
}

__attribute__((destructor)) static void end(void) { reportAtEnd(); }

/// Returns the counting entry of a kernel of a shared library.
static void *countKernelSymbol(void *kernel, const char *name) {
  Dl_info found;
  const char *library = "";
  if (isEntry(kernel) || !openProcess())
    return kernel;
  if (dladdr(kernel, &found) && found.dli_fname) {
    const char *slash = strrchr(found.dli_fname, '/');
    library = slash ? slash + 1 : found.dli_fname;
  }
  lock();
  void *entry = entryOf(Kernel, kernel, library, name + strlen(KERNEL_PREFIX));
  unlock();
  return entry ? entry : kernel;
}

/// Looks a symbol up that may be a function to count.
static __attribute__((noinline)) void *lookUpCounted(void *handle,
                                                     const char *name) {
  void *found = realLookup(handle, name);
  int before = errno;
  if (found && !strcmp(name, IREE_QUERY))
    countLibrary(found);
  else if (found)
    found = countKernelSymbol(found, name);
  errno = before;
  return found;
}

static bool isCountable(const char *name) {
  return !strncmp(name, KERNEL_PREFIX, strlen(KERNEL_PREFIX)) ||
         !strcmp(name, IREE_QUERY);
}

/// The last call must stay a jump: RTLD_NEXT means the library after that of
/// the return address.
EXPORTED void *dlsym(void *handle, const char *name) {
  if (!realLookup)
    findReal();
  if (image && handle != RTLD_NEXT && isCountable(name))
    return lookUpCounted(handle, name);
  return realLookup(handle, name);
}

EXPORTED int mprotect(void *address, size_t size, int protection) {
  if (!realLookup)
    findReal();
  int result = realProtect(address, size, protection);
  if (result == 0 && image && (protection & PROT_READ) &&
      !(protection & PROT_WRITE))
    seeProtected(address, size, protection);
  return result;
}

EXPORTED int munmap(void *address, size_t size) {
  if (!realLookup)
    findReal();
  if (image)
    removeRange(address, size);
  return realUnmap(address, size);
}
