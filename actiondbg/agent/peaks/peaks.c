// Measures what one core of this machine can do at most, and prints it: lines
// "flops TYPE GFLOP/s" and "bytes LEVEL SIZE BYTES/s", the best of all rounds.
//
// Compiled for the processor at hand (-march=native, -ffp-contract=fast): a
// product and a sum are a fused multiply-add where there is one.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

// An empty instruction that may change a register: no chain is folded.
#if defined(__AVX512F__)
#define KEEP(value) __asm__ volatile("" : "+v"(value))
#elif defined(__x86_64__)
#define KEEP(value) __asm__ volatile("" : "+x"(value))
#elif defined(__aarch64__)
#define KEEP(value) __asm__ volatile("" : "+w"(value))
#else
#define KEEP(value) __asm__ volatile("" : "+m"(value))
#endif

// Shorter than a time slice: some rounds are disturbed by no other process.
#define CHAIN_SECONDS 0.001
#define CHAIN_ROUNDS 50
#define TRIAD_SECONDS 0.002
#define TRIAD_ROUNDS 7
#define MEBIBYTE (1L << 20)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// --- Chains -----------------------------------------------------------------

// Twelve independent chains hide the latency of two units with six cycles, and
// leave registers for the factors where there are sixteen.
#define CHAINS 12
#define EACH(STEP)                                                             \
  STEP(0)                                                                      \
  STEP(1)                                                                      \
  STEP(2)                                                                      \
  STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)

#define DECLARE(i) VECTOR chain##i = start;
#define ADVANCE(i)                                                             \
  chain##i = NEXT(chain##i);                                                   \
  KEEP(chain##i);

// Defines a function that advances all chains so many times.
#define CHAIN_FUNCTION(name)                                                   \
  static void name(long steps) {                                               \
    VECTOR start = START, factor = FACTOR;                                     \
    KEEP(start);                                                               \
    KEEP(factor);                                                              \
    EACH(DECLARE)                                                              \
    for (long step = 0; step < steps; ++step) {                                \
      EACH(ADVANCE)                                                            \
    }                                                                          \
  }

// The sequence x = x / 2 + 1 stays between 1 and 2.
#define NEXT(x) ((x) * factor + start)
#define START ((VECTOR){0} + 1)
#define FACTOR (start / 2)

typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR Floats
CHAIN_FUNCTION(chainsF32)
#undef VECTOR

typedef double Doubles __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR Doubles
CHAIN_FUNCTION(chainsF64)
#undef VECTOR

#if defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#define HAS_F16
typedef _Float16 Halves __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR Halves
CHAIN_FUNCTION(chainsF16)
#undef VECTOR
#endif

#undef FACTOR
#define FACTOR (start * 3)

// AVX without AVX2 has no integers of 32 bytes.
#if defined(__AVX__) && !defined(__AVX2__)
#define INTEGER_BYTES 16
#else
#define INTEGER_BYTES VECTOR_BYTES
#endif
typedef int32_t Integers __attribute__((vector_size(INTEGER_BYTES)));
#define VECTOR Integers
CHAIN_FUNCTION(chainsI32)
#undef VECTOR

#undef NEXT
#undef START
#undef FACTOR

// Sums of products of four bytes.
#define FACTOR start
#if defined(__AVX512VNNI__)
#define I8_BYTES 64
#define VECTOR __m512i
#define START _mm512_set1_epi8(1)
#define NEXT(x) _mm512_dpbusd_epi32(x, factor, start)
#elif defined(__AVXVNNI__)
#define I8_BYTES 32
#define VECTOR __m256i
#define START _mm256_set1_epi8(1)
#define NEXT(x) _mm256_dpbusd_avx_epi32(x, factor, start)
#elif defined(__ARM_FEATURE_DOTPROD)
#define I8_BYTES 16
#define VECTOR int32x4_t
#define START vdupq_n_s32(1)
#define NEXT(x)                                                                \
  vdotq_s32(x, vreinterpretq_s8_s32(factor), vreinterpretq_s8_s32(start))
#endif
#ifdef I8_BYTES
CHAIN_FUNCTION(chainsI8)
#undef VECTOR
#undef START
#undef NEXT
#endif

// Sums of products of two bf16, in f32.
#if defined(__AVX512BF16__)
#define HAS_BF16
#define VECTOR __m512
#define START _mm512_set1_ps(1)
#define NEXT(x) _mm512_dpbf16_ps(x, (__m512bh)factor, (__m512bh)start)
CHAIN_FUNCTION(chainsBF16)
#undef VECTOR
#undef START
#undef NEXT
#endif

struct Chains {
  const char *type;
  void (*run)(long steps);
  double operations; // of one step of all chains
  long steps;
  double best;
};

#define OF(bytes, type) (2.0 * CHAINS * (double)((bytes) / sizeof(type)))
static struct Chains allChains[] = {
    {"f32", chainsF32, OF(VECTOR_BYTES, float), 0, 0},
    {"f64", chainsF64, OF(VECTOR_BYTES, double), 0, 0},
    {"i32", chainsI32, OF(INTEGER_BYTES, int32_t), 0, 0},
#ifdef HAS_F16
    {"f16", chainsF16, OF(VECTOR_BYTES, _Float16), 0, 0},
#endif
#ifdef HAS_BF16
    {"bf16", chainsBF16, OF(VECTOR_BYTES, uint16_t), 0, 0},
#endif
#ifdef I8_BYTES
    {"i8", chainsI8, OF(I8_BYTES, int8_t), 0, 0},
#endif
};
#define TYPES (sizeof(allChains) / sizeof(allChains[0]))

static double timeOf(const struct Chains *chains) {
  double start = now();
  chains->run(chains->steps);
  return now() - start;
}

static void calibrate(struct Chains *chains) {
  chains->steps = 1000;
  while (timeOf(chains) < CHAIN_SECONDS / 2)
    chains->steps *= 2;
}

static void measureChains(void) {
  for (size_t i = 0; i < TYPES; ++i)
    calibrate(&allChains[i]);
  // In turn, so that a disturbance meets each type only once.
  for (int round = 0; round < CHAIN_ROUNDS; ++round) {
    for (size_t i = 0; i < TYPES; ++i) {
      struct Chains *chains = &allChains[i];
      double rate =
          chains->operations * (double)chains->steps / timeOf(chains) / 1e9;
      if (rate > chains->best)
        chains->best = rate;
    }
  }
  for (size_t i = 0; i < TYPES; ++i)
    printf("flops %s %.6g\n", allChains[i].type, allChains[i].best);
}

// --- Bandwidth --------------------------------------------------------------

// a = b + 3 c, over three arrays that lie one after another.
__attribute__((noinline)) static void triad(double *arrays, long elements,
                                            long passes) {
  double *restrict a = arrays;
  const double *restrict b = arrays + elements;
  const double *restrict c = arrays + 2 * elements;
  for (long pass = 0; pass < passes; ++pass) {
    for (long i = 0; i < elements; ++i)
      a[i] = b[i] + 3.0 * c[i];
    __asm__ volatile("" ::: "memory"); // a pass may not be left out
  }
}

static double timeOfTriad(double *arrays, long elements, long passes) {
  double start = now();
  triad(arrays, elements, passes);
  return now() - start;
}

// The bandwidth of three arrays of so many bytes together.
static double bandwidth(double *arrays, long size) {
  long elements = size / 3 / (long)sizeof(double) / 64 * 64;
  double bytes = 3.0 * (double)elements * sizeof(double), best = 0;
  long passes = 1;
  timeOfTriad(arrays, elements, passes); // brings the arrays into the cache
  while (timeOfTriad(arrays, elements, passes) < TRIAD_SECONDS)
    passes *= 2;
  for (int round = 0; round < TRIAD_ROUNDS; ++round) {
    double seconds = timeOfTriad(arrays, elements, passes);
    if (bytes * (double)passes / seconds > best)
      best = bytes * (double)passes / seconds;
  }
  return best;
}

static long cacheSize(int name, long otherwise) {
  long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

static int measureBandwidth(void) {
  long l1 = cacheSize(_SC_LEVEL1_DCACHE_SIZE, 32L << 10);
  long l2 = cacheSize(_SC_LEVEL2_CACHE_SIZE, MEBIBYTE);
  long l3 = cacheSize(_SC_LEVEL3_CACHE_SIZE, 8 * l2);
  long available = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
  // The last cache of a virtual machine may be that of all machines on the
  // host: no array can be far larger than it.
  long whole = 4 * l3;
  if (whole > 1024 * MEBIBYTE)
    whole = 1024 * MEBIBYTE;
  if (whole > available / 4)
    whole = available / 4;
  double *arrays = mmap(NULL, (size_t)whole, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (arrays == MAP_FAILED) {
    perror("mmap");
    return 1;
  }
  madvise(arrays, (size_t)whole, MADV_HUGEPAGE);
  for (long i = 0; i < whole / (long)sizeof(double); ++i)
    arrays[i] = 1.0;
  // Three quarters of a cache: other things are in it, too.
  long shared = l3 < 8 * l2 ? l3 : 8 * l2; // a core's part of the last cache
  struct {
    const char *name;
    long size;
  } levels[] = {{"L1", l1 / 4 * 3},
                {"L2", l2 / 4 * 3},
                {"L3", shared / 4 * 3},
                {"memory", whole}};
  for (int i = 0; i < 4; ++i) {
    if (levels[i].size <= whole)
      printf("bytes %s %ld %.6g\n", levels[i].name, levels[i].size,
             bandwidth(arrays, levels[i].size));
  }
  munmap(arrays, (size_t)whole);
  return 0;
}

int main(void) {
  measureChains();
  return measureBandwidth();
}
