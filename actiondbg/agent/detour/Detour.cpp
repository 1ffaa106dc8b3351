//===- Detour.cpp - Functions that jump elsewhere -------------------------===//
//
// An entry is overwritten by one jump, which reaches only near memory: an
// island there has the jump to the agent, and the copy of what was overwritten.
// Where the agent's jump leads is data, so that code is written only once.
// On aarch64 one instruction does not reach beyond an object with much code;
// three do. A function that is shorter jumps there by a stone on the way.
//
//===----------------------------------------------------------------------===//

#include "detour/Detour.h"

#include <linux/membarrier.h>

namespace adbg::detour {

/// The jumps that overwrite an entry, the shortest first. All of an object's
/// are of one kind.
static constexpr EntryJump entryJumps[] = {
#if defined(__x86_64__)
    {5, (int64_t(1) << 31) - (1 << 16)},
#elif defined(__aarch64__)
    {4, (int64_t(1) << 27) - (1 << 16)},
    {12, (int64_t(1) << 32) - (1 << 16)},
#else
    {0, 0},
#endif
};
static constexpr bool isSupported = entryJumps[0].size != 0;

//===----------------------------------------------------------------------===//
// Islands
//===----------------------------------------------------------------------===//

/// The jump to the agent, then the copy, then the jump back.
static constexpr size_t headSize = 32, tailSize = 32;
static constexpr size_t slotSize = headSize + mostRelocated + tailSize;

static const char *const notCode =
    "it may not change its code (PR_SET_MDWE, or a policy of the system)";

static size_t alignedToPage(size_t size) {
  size_t page = sysconf(_SC_PAGESIZE);
  return (size + page - 1) / page * page;
}
static size_t codeSize() { return alignedToPage(Detours::capacity * slotSize); }
static size_t dataSize() {
  return alignedToPage(Detours::capacity * sizeof(Crossing));
}

/// Maps memory at a free place which all of an object can reach.
uint8_t *Detours::reserve(int64_t reach) const {
  size_t size = codeSize() + dataSize();
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return nullptr;
  uint64_t best = nearestGap(maps, object.begin, object.end, size, reach);
  fclose(maps);
  if (!best)
    return nullptr;
  void *mapped =
      mmap(reinterpret_cast<void *>(best), size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  if (reinterpret_cast<uint64_t>(mapped) != best) {
    munmap(mapped, size); // a kernel that does not know the flag
    return nullptr;
  }
  return static_cast<uint8_t *>(mapped);
}

//===----------------------------------------------------------------------===//
// Jumps
//===----------------------------------------------------------------------===//

/// Writes a jump to the target of a crossing; the address of the crossing is
/// in a register that calls may change: r11, x17.
static void writeCrossing(uint8_t *code, const Crossing *crossing) {
  int64_t distance = reinterpret_cast<const uint8_t *>(crossing) - code;
#if defined(__x86_64__)
  // lea r11, [rip + crossing]; jmp [r11]
  const uint8_t words[] = {0x4c, 0x8d, 0x1d, 0, 0, 0, 0, 0x41, 0xff, 0x23};
  memcpy(code, words, sizeof(words));
  int32_t near = static_cast<int32_t>(distance - 7);
  memcpy(code + 3, &near, sizeof(near));
#else
  // ldr x17, .+12; ldr x16, [x17]; br x16; the address
  const uint32_t words[] = {0x58000071, 0xf9400230, 0xd61f0200};
  (void)distance;
  memcpy(code, words, sizeof(words));
  memcpy(code + sizeof(words), &crossing, sizeof(crossing));
#endif
}

/// Writes a jump to any address.
static void writeJump(uint8_t *code, const uint8_t *target) {
#if defined(__x86_64__)
  // jmp [rip]
  const uint8_t words[] = {0xff, 0x25, 0, 0, 0, 0};
#else
  // ldr x16, .+8; br x16
  const uint32_t words[] = {0x58000050, 0xd61f0200};
#endif
  memcpy(code, words, sizeof(words));
  memcpy(code + sizeof(words), &target, sizeof(target));
}

/// Writes the jump that overwrites an entry, as it will be at `from`.
static void writeEntryJump(uint8_t *bytes, size_t size, const uint8_t *from,
                           const uint8_t *to) {
#if defined(__x86_64__)
  auto distance = static_cast<int32_t>(to - (from + size));
  bytes[0] = 0xe9;
  memcpy(bytes + 1, &distance, sizeof(distance));
#else
  if (size == 4) {
    uint32_t word = 0x14000000 | (((to - from) >> 2) & 0x3ffffff);
    memcpy(bytes, &word, sizeof(word));
    return;
  }
  auto target = reinterpret_cast<uint64_t>(to);
  uint64_t pages = (target >> 12) - (reinterpret_cast<uint64_t>(from) >> 12);
  // adrp x16, page; add x16, x16, offset; br x16
  const uint32_t words[] = {
      static_cast<uint32_t>(0x90000010 | (pages & 3) << 29 |
                            ((pages >> 2) & 0x7ffff) << 5),
      static_cast<uint32_t>(0x91000210 | (target & 4095) << 10), 0xd61f0200};
  memcpy(bytes, words, sizeof(words));
#endif
}

/// Writes code; returns why that is impossible, or null.
static const char *writeCode(uint8_t *place, const uint8_t *bytes,
                             size_t size) {
  uintptr_t page = sysconf(_SC_PAGESIZE);
  auto at = reinterpret_cast<uintptr_t>(place);
  uintptr_t begin = at / page * page;
  uintptr_t end = (at + size + page - 1) / page * page;
  void *pages = reinterpret_cast<void *>(begin);
  // Still executable while it is written: other functions in the page may run.
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return errno == ENOMEM ? "there is no memory to change its code" : notCode;
  memcpy(place, bytes, size);
  __builtin___clear_cache(reinterpret_cast<char *>(place),
                          reinterpret_cast<char *>(place + size));
  mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Detours
//===----------------------------------------------------------------------===//

Detours::Detours(const LoadedObject &object) : object(object) {
  for (const EntryJump &one : entryJumps)
    if (!island && isSupported) {
      jump = one;
      island = reserve(one.reach);
    }
  if (island)
    crossings = new (island + codeSize()) Crossing[capacity];
}

/// Lets no processor go on with instructions that it has read before. On x86-64
/// none does; elsewhere the system asks the other processors.
static void forgetReadCode() {
#if !defined(__x86_64__)
  if (syscall(SYS_membarrier,
              MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0)
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
#endif
}

/// Lets jumps lead anywhere in an object's code. A copy of an entry goes on in
/// the middle of a function, which guarded pages (PROT_BTI) do not allow.
static void unguard(const LoadedObject &object) {
#if defined(__aarch64__)
  uint64_t begin = object.codeBegin & -uint64_t(sysconf(_SC_PAGESIZE));
  mprotect(reinterpret_cast<void *>(begin), object.codeEnd - begin,
           PROT_READ | PROT_EXEC);
#else
  (void)object;
#endif
}

Detours::~Detours() {
  if (!island)
    return;
  unguard(object);
  __builtin___clear_cache(reinterpret_cast<char *>(island),
                          reinterpret_cast<char *>(island + codeSize()));
  bool isCode = mprotect(island, codeSize(), PROT_READ | PROT_EXEC) == 0;
  for (size_t i = 0; i < used; ++i) {
    Crossing &crossing = crossings[i];
    if (!isCode && !crossing.refusal)
      crossing.refusal = notCode;
    if (crossing.refusal)
      continue;
    uint8_t *function = functions[i], *stone = stones[i];
    uint8_t bytes[16];
    uint8_t *from = stone ? stone : function;
    writeEntryJump(bytes, jump.size, from, island + i * slotSize);
    crossing.refusal = writeCode(from, bytes, jump.size);
    if (!stone || crossing.refusal)
      continue;
    writeEntryJump(bytes, entryJumps[0].size, function, stone);
    crossing.refusal = writeCode(function, bytes, entryJumps[0].size);
  }
  forgetReadCode();
}

/// Returns the bytes of a function that can be read.
static size_t readableSize(const LoadedObject &object, uint64_t address,
                           uint64_t size) {
  // A function that is not written in C++ may have no size.
  uint64_t most = object.end - address;
  uint64_t wanted = size ? size : 64;
#if defined(__x86_64__)
  // Padding behind a short function may be overwritten too.
  wanted = wanted < 64 ? wanted + 16 : wanted;
#endif
  return wanted < most ? wanted : most;
}

/// Returns a place for a jump near a function, which is used for nothing else:
/// the rest of the first or last page of an object's code. Null without one.
static uint8_t *takeStone(const LoadedObject &object, const uint8_t *function,
                          const EntryJump &near, size_t size) {
  static auto *taken = new std::map<uint64_t, size_t>;
  uint64_t page = sysconf(_SC_PAGESIZE);
  const uint64_t rests[][2] = {
      {object.codeBegin / page * page, object.codeBegin},
      {(object.codeEnd + 3) / 4 * 4,
       (object.codeEnd + page - 1) / page * page}};
  for (auto [begin, end] : rests) {
    size_t &used = (*taken)[begin];
    uint64_t place = begin + used;
    int64_t distance = place - reinterpret_cast<uint64_t>(function);
    if (place + size > end || distance > near.reach || distance < -near.reach)
      continue;
    used += size;
    return reinterpret_cast<uint8_t *>(place);
  }
  return nullptr;
}

/// Writes the code of one detour into the island.
const char *Detours::copyEntry(uint8_t *function, size_t size, size_t entrySize,
                               uint8_t *code, Crossing &crossing) {
  uint8_t *copy = code + headSize;
  FunctionCode from{function, size, reinterpret_cast<uint64_t>(function)};
  auto address = reinterpret_cast<uint64_t>(copy);
#if defined(__x86_64__)
  Relocated moved = relocateX86(from, entrySize, copy, address);
#else
  Relocated moved = relocateAArch64(from, entrySize, copy, address);
#endif
  if (moved.refusal)
    return moved.refusal;
  if (moved.continues)
    writeJump(copy + moved.size, function + moved.taken);
  writeCrossing(code, &crossing);
  crossing.original = copy;
  return nullptr;
}

/// Prepares the next detour; returns why that is impossible, or null.
const char *Detours::prepare(uint8_t *function, size_t size) {
  for (size_t i = 0; i < used; ++i)
    if (functions[i] == function && !crossings[i].refusal)
      return "its code is also that of another function";
  uint8_t *code = island + used * slotSize;
  Crossing &crossing = crossings[used];
  const char *refusal = copyEntry(function, size, jump.size, code, crossing);
  const EntryJump &shortest = entryJumps[0];
  if (!refusal || jump.size == shortest.size)
    return refusal;
  refusal = copyEntry(function, size, shortest.size, code, crossing);
  if (refusal)
    return refusal;
  stones[used] = takeStone(object, function, shortest, jump.size);
  return stones[used] ? nullptr : "there is no room for a jump near it";
}

const Crossing &Detours::add(const SymbolPlace &place, void *target) {
  static const Crossing unsupported{
      .refusal = "code of this processor cannot be changed yet"};
  static const Crossing noMemory{.refusal =
                                     "there is no memory for code near it"};
  if (!isSupported)
    return unsupported;
  if (!island || used == capacity)
    return noMemory;
  uint64_t address = object.bias + place.offset;
  auto *function = reinterpret_cast<uint8_t *>(address);
  Crossing &crossing = crossings[used];
  crossing.target = target;
  crossing.refusal =
      prepare(function, readableSize(object, address, place.size));
  functions[used++] = function;
  return crossing;
}

const char *replaceEmpty(const LoadedObject &object, void *address,
                         void *target) {
  SymbolPlace place{reinterpret_cast<uint64_t>(address) - object.bias, 0};
  const Crossing *crossing;
  {
    Detours detours(object);
    crossing = &detours.add(place, target);
  }
  return crossing->refusal;
}

} // namespace adbg::detour
