#include "support/AgentHeap.h"

#include "llvm/Support/Compiler.h"

#include <malloc.h>

extern "C" {
// The C library's.
void *__libc_malloc(size_t) noexcept;
void __libc_free(void *) noexcept;
void *__libc_calloc(size_t, size_t) noexcept;
void *__libc_realloc(void *, size_t) noexcept;
void *__libc_memalign(size_t, size_t) noexcept;
// The begin and end of the agent in memory, from the linker.
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
}

namespace adbg {

namespace {

uintptr_t alignTo(uintptr_t value, uintptr_t align) {
  return (value + align - 1) / align * align;
}

/// Blocks of powers of two in reserved address space; freed ones are kept in a
/// list for each size. The kernel maps a page at its first write.
class BlockHeap {
public:
  /// Whether memory is of this heap. Called at each free of the tool.
  LLVM_ATTRIBUTE_ALWAYS_INLINE bool owns(const void *memory) const {
    return LLVM_UNLIKELY(reinterpret_cast<uintptr_t>(memory) - begin < size);
  }

  /// Returns null if there is no room.
  void *take(size_t bytes, size_t alignment = sizeof(Header)) {
    if (bytes > most / 2 || alignment > most / 4)
      return nullptr;
    size_t slack = alignment > sizeof(Header) ? alignment : 0;
    unsigned log = std::bit_width(
        std::max(bytes + sizeof(Header) + slack, 2 * sizeof(Header)) - 1);
    uintptr_t block = takeBlock(log);
    if (!block)
      return nullptr;
    uintptr_t memory = alignTo(block + sizeof(Header), alignment);
    *headerOf(memory) = {log, memory - block};
    return reinterpret_cast<void *>(memory);
  }

  /// Gives back what is reserved, but for `spare` bytes.
  void giveBack() {
    Lock lock(*this);
    size_t needed = alignTo(next - begin + spare, pageSize);
    if (needed >= size)
      return;
    munmap(reinterpret_cast<void *>(begin + needed), size - needed);
    size = needed;
  }

  /// In a fork: of the threads that were in the heap, none is left.
  void unlock() { isLocked.clear(); }

  size_t room(const void *memory) const {
    const Header *header = headerOf(reinterpret_cast<uintptr_t>(memory));
    return (size_t(1) << header->log) - header->offset;
  }

  /// Returns zeroed memory. The pages inside of a large block are zeros, and
  /// stay unmapped until they are written.
  void *takeZeros(size_t bytes) {
    void *memory = take(bytes);
    if (!memory)
      return nullptr;
    auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + bytes;
    Header *header = headerOf(begin);
    if (header->log < largeLog)
      return memset(memory, 0, bytes);
    Pages pages(begin - header->offset, header->log);
    if (begin < pages.first)
      memset(memory, 0, std::min(end, pages.first) - begin);
    if (end > pages.last) {
      uintptr_t rest = std::max(begin, pages.last);
      memset(reinterpret_cast<void *>(rest), 0, end - rest);
    }
    return memory;
  }

  void give(void *memory) {
    Header *header = headerOf(reinterpret_cast<uintptr_t>(memory));
    uintptr_t block = reinterpret_cast<uintptr_t>(memory) - header->offset;
    unsigned log = header->log;
    if (log >= largeLog) {
      Pages pages(block, log);
      // Zeros again, as takeZeros expects.
      if (madvise(pages.begin(), pages.size(), MADV_DONTNEED) != 0)
        memset(pages.begin(), 0, pages.size());
    }
    Lock lock(*this);
    auto *free = reinterpret_cast<Free *>(block);
    free->next = freed[log];
    freed[log] = free;
  }

private:
  /// Before the memory of each block.
  struct Header {
    uint64_t log;
    uint64_t offset;
  };
  struct Free {
    Free *next;
  };
  /// The whole pages of a large block, behind what links free blocks.
  struct Pages {
    Pages(uintptr_t block, unsigned log)
        : first(alignTo(block + sizeof(Free), pageSize)),
          last((block + (uintptr_t(1) << log)) / pageSize * pageSize) {}
    void *begin() const { return reinterpret_cast<void *>(first); }
    size_t size() const { return last - first; }
    uintptr_t first, last;
  };
  struct Lock {
    explicit Lock(BlockHeap &heap) : heap(heap) {
      while (heap.isLocked.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { heap.isLocked.clear(std::memory_order_release); }
    BlockHeap &heap;
  };
  static constexpr size_t most = size_t(1) << 36, spare = size_t(1) << 28;
#if defined(__aarch64__)
  static constexpr size_t pageSize = 1 << 16; // the largest there is
#else
  static constexpr size_t pageSize = 4096;
#endif
  static constexpr unsigned largeLog = 20;

  static Header *headerOf(uintptr_t memory) {
    return reinterpret_cast<Header *>(memory) - 1;
  }

  /// Reserves the address space; without any, all memory is of the tool's
  /// allocator.
  void reserve() {
    isReserved = true;
    void *taken = mmap(nullptr, most, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (taken == MAP_FAILED)
      return;
    begin = next = reinterpret_cast<uintptr_t>(taken);
    size = most;
  }

  uintptr_t takeBlock(unsigned log) {
    Lock lock(*this);
    if (LLVM_UNLIKELY(!isReserved))
      reserve();
    if (Free *free = freed[log]) {
      freed[log] = free->next;
      return reinterpret_cast<uintptr_t>(free);
    }
    uintptr_t bytes = uintptr_t(1) << log;
    if (begin + size - next < bytes)
      return 0;
    return std::exchange(next, next + bytes);
  }

  uintptr_t begin = 0;
  size_t size = 0;
  uintptr_t next = 0;
  bool isReserved = false;
  std::atomic_flag isLocked = ATOMIC_FLAG_INIT;
  Free *freed[64] = {};
};

// Constant-initialized: the tool allocates before any constructor has run.
BlockHeap heap;

/// What malloc and so on below stand in front of: an allocator that the user
/// preloads, such as jemalloc, or the C library's. The tool's `new` and
/// `delete` may be of that allocator, too.
struct Allocator {
  void *(*malloc)(size_t);
  void (*free)(void *);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*memalign)(size_t, size_t);
  size_t (*usableSize)(void *);
};

void findAllocator();
/// Until its first use: finds it.
Allocator tools = {
    [](size_t bytes) { return findAllocator(), tools.malloc(bytes); },
    [](void *memory) { findAllocator(), tools.free(memory); },
    [](size_t count, size_t bytes) {
      return findAllocator(), tools.calloc(count, bytes);
    },
    [](void *memory, size_t bytes) {
      return findAllocator(), tools.realloc(memory, bytes);
    },
    [](size_t alignment, size_t bytes) {
      return findAllocator(), tools.memalign(alignment, bytes);
    },
    [](void *memory) { return findAllocator(), tools.usableSize(memory); },
};

template <typename Function>
void findNext(Function *&function, const char *name) {
  if (void *next = dlsym(RTLD_NEXT, name))
    function = reinterpret_cast<Function *>(next);
}

void findAllocator() {
  Allocator found = {__libc_malloc,  __libc_free,     __libc_calloc,
                     __libc_realloc, __libc_memalign, nullptr};
  // What dlsym allocates is of the agent's heap, which free() recognizes.
  AgentHeap agentHeap;
  findNext(found.malloc, "malloc");
  findNext(found.free, "free");
  findNext(found.calloc, "calloc");
  findNext(found.realloc, "realloc");
  findNext(found.memalign, "memalign");
  findNext(found.usableSize, "malloc_usable_size");
  tools = found;
}

} // namespace

__thread unsigned AgentHeap::uses = 0;

void AgentHeap::giveBack() { heap.giveBack(); }

__attribute__((constructor)) static void unlockInForks() {
  pthread_atfork(nullptr, nullptr, [] { heap.unlock(); });
}

} // namespace adbg

using adbg::AgentHeap;
using adbg::heap;
using adbg::tools;

/// Whether memory is for the agent: its own code asks for it, or what this code
/// has called.
LLVM_ATTRIBUTE_ALWAYS_INLINE static bool isForAgent(const void *caller) {
  return AgentHeap::isUsed() ||
         LLVM_UNLIKELY(static_cast<size_t>(static_cast<const char *>(caller) -
                                           &__ehdr_start) <
                       static_cast<size_t>(&_end - &__ehdr_start));
}

LLVM_ATTRIBUTE_ALWAYS_INLINE static void *allocate(size_t bytes,
                                                   const void *caller) {
  if (isForAgent(caller))
    if (void *memory = heap.take(bytes))
      return memory;
  return tools.malloc(bytes);
}

static void *allocateAligned(size_t alignment, size_t bytes,
                             const void *caller) {
  if (isForAgent(caller))
    if (void *memory = heap.take(bytes, alignment))
      return memory;
  return tools.memalign(alignment, bytes);
}

//===----------------------------------------------------------------------===//
// The functions of the C library
//===----------------------------------------------------------------------===//

extern "C" {

void *malloc(size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}

void free(void *memory) {
  if (heap.owns(memory))
    return heap.give(memory);
  tools.free(memory);
}

void *calloc(size_t count, size_t bytes) {
  size_t all = 0;
  if (isForAgent(__builtin_return_address(0)) &&
      !__builtin_mul_overflow(count, bytes, &all))
    if (void *memory = heap.takeZeros(all))
      return memory;
  return tools.calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
  const void *caller = __builtin_return_address(0);
  if (!memory)
    return allocate(bytes, caller);
  if (!heap.owns(memory))
    return tools.realloc(memory, bytes);
  size_t room = heap.room(memory);
  if (bytes <= room && bytes)
    return memory;
  void *larger = bytes ? allocate(bytes, caller) : nullptr;
  if (larger)
    memcpy(larger, memory, room);
  if (larger || !bytes)
    heap.give(memory);
  return larger;
}

void *memalign(size_t alignment, size_t bytes) {
  return allocateAligned(alignment, bytes, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return allocateAligned(alignment, bytes, __builtin_return_address(0));
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void *))
    return EINVAL;
  void *taken = allocateAligned(alignment, bytes, __builtin_return_address(0));
  if (!taken)
    return ENOMEM;
  *memory = taken;
  return 0;
}

size_t malloc_usable_size(void *memory) {
  return heap.owns(memory) ? heap.room(memory) : tools.usableSize(memory);
}

/// For what is of a thread, such as a table: the C library allocates a note.
int __cxa_thread_atexit(void (*end)(void *), void *object,
                        void *library) noexcept {
  AgentHeap agentHeap;
  return __cxa_thread_atexit_impl(end, object, library);
}
}
