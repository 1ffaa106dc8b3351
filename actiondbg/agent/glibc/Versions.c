// Binds functions of the C library to versions that glibc 2.28 has, whatever
// glibc is on the machine that builds the package. Valid C and C++, and linked
// into everything that is shipped, before the static C++ library: what that
// one refers to is bound here, too.

#if __has_include(<gnu/libc-version.h>)
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define JUMP(target) "jmp *" target "@GOTPCREL(%rip)\n"
#define VERSION(x86) x86
#elif defined(__aarch64__)
#define JUMP(target)                                                           \
  "adrp x16, :got:" target "\nldr x16, [x16, :got_lo12:" target "]\nbr x16\n"
#define VERSION(x86) "GLIBC_2.17"
#endif

#ifdef JUMP
// A jump, not a call: dlsym and dlopen look at their return address.
#define BIND_AS(name, old, version)                                            \
  __asm__(".pushsection .text." name ",\"ax\",%progbits\n"                     \
          ".globl " name "\n.hidden " name "\n.type " name ",%function\n" name \
          ":\n" JUMP("adbg_old_" name) ".size " name ", .-" name               \
                                       "\n.symver adbg_old_" name "," old      \
                                       "@" VERSION(version) "\n.popsection\n")
#define BIND(name, version) BIND_AS(name, name, version)

// In the C library itself since 2.34, under new versions.
BIND("__pthread_key_create", "GLIBC_2.2.5");
BIND("pthread_key_create", "GLIBC_2.2.5");
BIND("pthread_key_delete", "GLIBC_2.2.5");
BIND("pthread_getspecific", "GLIBC_2.2.5");
BIND("pthread_setspecific", "GLIBC_2.2.5");
BIND("pthread_once", "GLIBC_2.2.5");
BIND("pthread_create", "GLIBC_2.2.5");
BIND("pthread_join", "GLIBC_2.2.5");
BIND("pthread_detach", "GLIBC_2.2.5");
BIND("pthread_kill", "GLIBC_2.2.5");
BIND("pthread_mutex_trylock", "GLIBC_2.2.5");
BIND("pthread_sigmask", "GLIBC_2.2.5");
BIND("pthread_getname_np", "GLIBC_2.12");
BIND("pthread_setname_np", "GLIBC_2.12");
BIND("dladdr", "GLIBC_2.2.5");
BIND("dlclose", "GLIBC_2.2.5");
BIND("dlerror", "GLIBC_2.2.5");
BIND("dlopen", "GLIBC_2.2.5");
#ifndef ADBG_OWN_DLSYM
BIND("dlsym", "GLIBC_2.2.5");
#endif
BIND("dlvsym", "GLIBC_2.2.5");
BIND("timer_create", "GLIBC_2.3.3");
BIND("timer_delete", "GLIBC_2.3.3");
BIND("timer_settime", "GLIBC_2.3.3");
// For programs; older ones call the constructors of the program themselves.
BIND("__libc_start_main", "GLIBC_2.2.5");
// Other names of C23, which glibc 2.38 has.
BIND_AS("__isoc23_sscanf", "__isoc99_sscanf", "GLIBC_2.7");
BIND_AS("__isoc23_strtol", "strtol", "GLIBC_2.2.5");
BIND_AS("__isoc23_strtoll", "strtoll", "GLIBC_2.2.5");
BIND_AS("__isoc23_strtoul", "strtoul", "GLIBC_2.2.5");
BIND_AS("__isoc23_strtoull", "strtoull", "GLIBC_2.2.5");

#ifdef __cplusplus
extern "C" {
#endif

#define HIDDEN __attribute__((visibility("hidden")))

// Since 2.33; before, they were inline functions.
HIDDEN int adbgStat(const char *path, struct stat *result) __asm__("stat");
int adbgStat(const char *path, struct stat *result) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, result, 0);
}
HIDDEN int adbgFstat(int file, struct stat *result) __asm__("fstat");
int adbgFstat(int file, struct stat *result) {
  return (int)syscall(SYS_fstat, file, result);
}

// What the static C++ library and the unwinder refer to. Nothing is thrown
// here, and the count of threads only saves the library an instruction.
extern HIDDEN char adbgSingleThreaded __asm__("__libc_single_threaded");
char adbgSingleThreaded = 0;
HIDDEN int adbgFindObject(void *address,
                          void *result) __asm__("_dl_find_object");
int adbgFindObject(void *address, void *result) {
  (void)address;
  (void)result;
  return -1;
}
HIDDEN unsigned adbgRandom(void) __asm__("arc4random");
unsigned adbgRandom(void) {
  unsigned value = 0;
  if (getentropy(&value, sizeof value) != 0)
    return (
        unsigned)(size_t)&value; // NOLINT(clang-diagnostic-return-stack-address)
  return value;
}

#ifdef __cplusplus
}
#endif
#endif
#endif
