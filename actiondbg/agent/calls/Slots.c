#include "Calls.h"

#include <fnmatch.h>

enum { SlotCount = 4096, EntrySize = 16, MaxDepth = 16 };

struct Slot {
  void *function;
  uint64_t hash;
  uint32_t name;
};

static struct Slot slots[2][SlotCount];
static uint32_t used[2];
// The range of all functions, for a quick answer to removeRange.
static uintptr_t lowest = UINTPTR_MAX, highest;

// Entries of 16 bytes. A dispatch passes its slot as the fourth argument; a
// kernel, whose arguments are unknown, in a register that no argument uses.
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        "dispatchEntries:\n"
        ".set slot, 0\n"
        ".rept 4096\n"
        "  movl $slot, %ecx\n"
        "  jmp countDispatch\n"
        "  .p2align 4\n"
        "  .set slot, slot + 1\n"
        ".endr\n"
        "kernelEntries:\n"
        ".set slot, 0\n"
        ".rept 4096\n"
        "  movl $slot, %r11d\n"
        "  jmp countKernel\n"
        "  .p2align 4\n"
        "  .set slot, slot + 1\n"
        ".endr\n"
        // Saves what may hold arguments, calls enterKernel(slot, address of
        // the return address), and jumps to the kernel that it returns: the
        // stack is as the caller left it, except for the return address.
        ".type countKernel, @function\n"
        "countKernel:\n"
        "  pushq %rbp\n"
        "  movq %rsp, %rbp\n"
        "  subq $192, %rsp\n"
        "  movq %rdi, (%rsp)\n"
        "  movq %rsi, 8(%rsp)\n"
        "  movq %rdx, 16(%rsp)\n"
        "  movq %rcx, 24(%rsp)\n"
        "  movq %r8, 32(%rsp)\n"
        "  movq %r9, 40(%rsp)\n"
        "  movq %rax, 48(%rsp)\n"
        "  movq %r10, 56(%rsp)\n"
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n"
        "  movups %xmm\\i, 64 + 16 * \\i(%rsp)\n"
        ".endr\n"
        "  movl %r11d, %edi\n"
        "  leaq 8(%rbp), %rsi\n"
        "  call enterKernel\n"
        "  movq %rax, %r11\n"
        "  movq (%rsp), %rdi\n"
        "  movq 8(%rsp), %rsi\n"
        "  movq 16(%rsp), %rdx\n"
        "  movq 24(%rsp), %rcx\n"
        "  movq 32(%rsp), %r8\n"
        "  movq 40(%rsp), %r9\n"
        "  movq 48(%rsp), %rax\n"
        "  movq 56(%rsp), %r10\n"
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n"
        "  movups 64 + 16 * \\i(%rsp), %xmm\\i\n"
        ".endr\n"
        "  movq %rbp, %rsp\n"
        "  popq %rbp\n"
        "  jmp *%r11\n"
        // Where a counted kernel returns to: saves what may hold results, and
        // jumps to the caller, whose address leaveKernel(stack) returns.
        ".type kernelReturn, @function\n"
        "kernelReturn:\n"
        "  subq $48, %rsp\n"
        "  movq %rax, (%rsp)\n"
        "  movq %rdx, 8(%rsp)\n"
        "  movups %xmm0, 16(%rsp)\n"
        "  movups %xmm1, 32(%rsp)\n"
        "  leaq 40(%rsp), %rdi\n"
        "  call leaveKernel\n"
        "  movq %rax, %r11\n"
        "  movq (%rsp), %rax\n"
        "  movq 8(%rsp), %rdx\n"
        "  movups 16(%rsp), %xmm0\n"
        "  movups 32(%rsp), %xmm1\n"
        "  addq $48, %rsp\n"
        "  jmp *%r11\n"
        ".popsection\n");

extern char dispatchEntries[], kernelEntries[], kernelReturn[];

__attribute__((used)) int countDispatch(const void *environment,
                                        const void *dispatch,
                                        const void *workgroup, uint32_t index) {
  const struct Slot *slot = &slots[Dispatch][index];
  int (*function)(const void *, const void *, const void *) =
      (int (*)(const void *, const void *, const void *))slot->function;
  struct Call call;
  if (!beginCall(&call, slot->name))
    return function(environment, dispatch, workgroup);
  uint32_t name = slot->name;
  int result = function(environment, dispatch, workgroup);
  endCall(&call, name);
  return result;
}

/// A kernel that runs: the caller's return address and where it was.
struct Frame {
  void **place, *caller;
  uint32_t name;
  struct Call call;
};

static __thread struct Frame frames[MaxDepth];
static __thread uint32_t depth;

__attribute__((used)) void *enterKernel(uint32_t index, void **place) {
  const struct Slot *slot = &slots[Kernel][index];
  void *function = slot->function;
  // Kernels that a longjmp left stay, so a full table only stops the counting.
  if (depth == MaxDepth)
    return function;
  struct Frame *frame = &frames[depth];
  frame->name = slot->name;
  if (!beginCall(&frame->call, frame->name))
    return function;
  frame->place = place;
  frame->caller = *place;
  *place = kernelReturn;
  ++depth;
  return function;
}

__attribute__((used)) void *leaveKernel(void **place) {
  while (frames[--depth].place != place)
    ;
  const struct Frame *frame = &frames[depth];
  endCall(&frame->call, frame->name);
  return frame->caller;
}

static uint64_t hashOf(const char *library, const char *name) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (const char *texts[] = {library, name}, **text = texts; text < texts + 2;
       ++text)
    for (const char *at = *text;; ++at) {
      hash = (hash ^ (unsigned char)*at) * 1099511628211u;
      if (!*at)
        break;
    }
  return hash;
}

static bool isCounted(const char *name) {
  return !settings.glob || !*settings.glob ||
         fnmatch(settings.glob, name, 0) == 0;
}

void *entryOf(enum Kind kind, void *function, const char *library,
              const char *name) {
  uint64_t hash = hashOf(library, name);
  uint32_t free = SlotCount;
  for (uint32_t i = 0; i < used[kind]; ++i) {
    struct Slot *slot = &slots[kind][i];
    // The same function at the same place: it was looked up again.
    if (slot->function == function && slot->hash == hash)
      return (kind == Dispatch ? dispatchEntries : kernelEntries) +
             i * EntrySize;
    // Another function was unloaded from there.
    if (slot->function == function)
      slot->function = NULL;
    if (!slot->function && free == SlotCount)
      free = i;
  }
  bool counted = isCounted(name);
  uint32_t number = addName(library, name, counted);
  if (!counted)
    return NULL;
  if (free == SlotCount)
    free = used[kind];
  if (free == SlotCount) {
    addNote("Too many functions are loaded at once to count ", name, ".");
    return NULL;
  }
  slots[kind][free] = (struct Slot){function, hash, number};
  used[kind] += free == used[kind];
  if (kind == Dispatch) {
    lowest = (uintptr_t)function < lowest ? (uintptr_t)function : lowest;
    highest = (uintptr_t)function > highest ? (uintptr_t)function : highest;
  }
  return (kind == Dispatch ? dispatchEntries : kernelEntries) +
         free * EntrySize;
}

bool isEntry(const void *address) {
  return (const char *)address >= dispatchEntries &&
         (const char *)address < kernelEntries + SlotCount * EntrySize;
}

void removeRange(const void *begin, uint64_t size) {
  uintptr_t low = (uintptr_t)begin, high = low + size;
  if (high <= lowest || low > highest)
    return;
  lock();
  for (uint32_t i = 0; i < used[Dispatch]; ++i) {
    uintptr_t at = (uintptr_t)slots[Dispatch][i].function;
    if (at >= low && at < high)
      slots[Dispatch][i].function = NULL;
  }
  unlock();
}
