// Kernels as the provider mlir makes them: functions _mlir_ciface_NAME of a
// shared library, with arguments and results of all kinds.

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  float *base, *data;
  long offset, sizes[1], strides[1];
} Vector;

void _mlir_ciface_scale(Vector *in, float factor, Vector *out) {
  for (long i = 0; i < in->sizes[0]; ++i)
    out->data[i] = factor * in->data[i];
}

// Touches a megabyte for the first time.
void _mlir_ciface_touch(Vector *in) {
  size_t size = 1 << 20;
  volatile char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; at < size; at += 4096)
    pages[at] = 1;
  in->data[0] = pages[0];
  munmap((void *)pages, size);
}

// More arguments than there are registers.
double _mlir_ciface_many(long a, long b, long c, long d, long e, long f, long g,
                         long h, double k, double l, double m, double n,
                         double o, double p, double q, double r, double s,
                         float t) {
  return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h) +
         k + l * 2 + m * 3 + n * 4 + o * 5 + p * 6 + q * 7 + r * 8 + s * 9 +
         (double)t * 10;
}

typedef struct {
  long first;
  double second;
} Pair;

Pair _mlir_ciface_pair(long first, double second) {
  return (Pair){first + 1, second + 1};
}

typedef struct {
  long values[5];
} Large;

Large _mlir_ciface_large(long first) {
  Large result = {{first, first + 1, first + 2, first + 3, first + 4}};
  return result;
}

typedef float Wide __attribute__((vector_size(32)));

// Arguments and result in registers of 256 bits.
__attribute__((target("avx"))) Wide _mlir_ciface_wide(Wide a, Wide b) {
  return a * b;
}

__attribute__((target("avx"))) float call_wide(Wide (*wide)(Wide, Wide)) {
  Wide result = wide((Wide){1, 2, 3, 4, 5, 6, 7, 8},
                     (Wide){10, 10, 10, 10, 10, 10, 10, 10});
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += result[i];
  return sum;
}

int has_avx(void) { return __builtin_cpu_supports("avx"); }

// Kernels that call kernels, as deep as they are told.
long _mlir_ciface_nested(long depth, long (*self)(long, void *)) {
  return depth ? 1 + self(depth - 1, (void *)self) : 0;
}

void _mlir_ciface_crash(void) { raise(SIGSEGV); }
void _mlir_ciface_leave(void) { _exit(7); }
void _mlir_ciface_hang(void) { pause(); }
long _mlir_ciface_fork(void) { return fork(); }

typedef void Kernel(void);

static Kernel *called;
static int calls;

static void *run(void *name) {
  pthread_setname_np(pthread_self(), name);
  for (int i = 0; i < calls; ++i)
    called();
  return NULL;
}

void _mlir_ciface_nothing(void) {}

// Calls a kernel in threads with these names.
void call_in_threads(Kernel *kernel, int times, char *first, char *second) {
  pthread_t threads[2];
  called = kernel;
  calls = times;
  pthread_create(&threads[0], NULL, run, first);
  pthread_create(&threads[1], NULL, run, second);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
}

// --- An executable library as IREE's compiler makes it ----------------------

typedef int Dispatch(void *environment, void *dispatch, void *workgroup);

typedef struct {
  unsigned version;
  const char *name;
  unsigned features, sanitizer;
} LibraryHeader;

typedef struct {
  const LibraryHeader *header;
  unsigned importCount;
  const void *imports;
  unsigned exportCount;
  Dispatch *const *pointers;
  const void *attributes, *parameters, *occupancy;
  const char *const *names;
} Library;

static int first(void *environment, void *dispatch, void *workgroup) {
  return (int)(long)environment + (int)(long)dispatch + (int)(long)workgroup;
}

static int second(void *environment, void *dispatch, void *workgroup) {
  (void)dispatch, (void)workgroup;
  return (int)(long)environment;
}

// Read-only after relocation, as in a real library.
static Dispatch *const pointers[] = {first, second, NULL};
static const char *const names[] = {"first_dispatch", "second_dispatch", NULL};
static LibraryHeader header = {6, "model", 0, 0};
static Library library = {&header, 0,    NULL, 3,    pointers,
                          NULL,    NULL, NULL, names};

void set_library(unsigned version, const void *name, unsigned count,
                 const void *table) {
  header.version = version;
  library.header = name ? &header : (const LibraryHeader *)16;
  library.exportCount = count;
  library.pointers = table ? table : pointers;
}

const void *iree_hal_executable_library_query(unsigned version,
                                              const void *environment) {
  (void)environment;
  return version == header.version ? &library : NULL;
}

int call_dispatches(long times) {
  int sum = 0;
  for (long i = 0; i < times; ++i)
    sum += library.pointers[0]((void *)i, (void *)1, (void *)2) +
           library.pointers[1]((void *)i, NULL, NULL);
  return sum;
}
