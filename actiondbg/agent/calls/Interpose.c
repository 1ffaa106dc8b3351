//===- Interpose.c - Functions of libc: modules, ends, processes ----------===//
//
// IREE's own loader maps a library with mmap and mprotect; the system's is
// asked with dlsym, as is the loader of kernels.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#define EXPORTED __attribute__((visibility("default")))
#define KERNEL_PREFIX "_mlir_ciface_"

typedef void *Lookup(void *, const char *);
typedef int Unmap(void *, size_t);

static Lookup *realLookup;
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
