//===- RelocatorAArch64.cpp - The first instructions, on aarch64 ----------===//
//
// Source: Arm Architecture Reference Manual for A-profile, C4.1, "A64
// instruction set encoding".
//
//===----------------------------------------------------------------------===//

#include "detour/Detour.h"

namespace adbg::detour {

static int64_t signedField(uint32_t word, unsigned low, unsigned bits) {
  auto field = static_cast<int64_t>(word >> low) << (64 - bits);
  return field >> (64 - bits);
}

namespace {

/// Writes instructions; constants follow them where they are used.
class AArch64Writer {
public:
  explicit AArch64Writer(uint8_t *copy) : copy(copy) {}

  bool hasRoom() const { return size + 48 <= mostRelocated; }

  void word(uint32_t word) {
    memcpy(copy + size, &word, sizeof(word));
    size += sizeof(word);
  }

  void constant(uint64_t value) {
    memcpy(copy + size, &value, sizeof(value));
    size += sizeof(value);
  }

  /// Loads a constant into a register.
  void load(unsigned reg, uint64_t value) {
    word(0x58000040 | reg); // ldr xN, .+8
    word(0x14000003);       // b .+12
    constant(value);
  }

  /// Goes on at an address. x16 is free between functions and where a linker
  /// may place a veneer, at a branch.
  void jump(uint64_t target) {
    word(0x58000050); // ldr x16, .+8
    word(0xd61f0200); // br x16
    constant(target);
  }

  uint8_t *copy;
  size_t size = 0;
};

} // namespace

/// Whether the rest of the function jumps to the bytes that are overwritten.
static bool branchesBack(const FunctionCode &function, size_t taken) {
  for (size_t at = 0; at + 4 <= function.size; at += 4) {
    uint32_t word;
    memcpy(&word, function.bytes + at, sizeof(word));
    int64_t words = 0;
    if ((word & 0x7c000000) == 0x14000000) // b, bl
      words = signedField(word, 0, 26);
    else if ((word & 0xff000000) == 0x54000000 || // b.cond
             (word & 0x7e000000) == 0x34000000)   // cbz, cbnz
      words = signedField(word, 5, 19);
    else if ((word & 0x7e000000) == 0x36000000) // tbz, tbnz
      words = signedField(word, 5, 14);
    else
      continue;
    uint64_t offset = at + static_cast<uint64_t>(words * 4);
    bool isCall = (word & 0xfc000000) == 0x94000000;
    if (offset < taken && (offset > 0 || !isCall))
      return true;
  }
  return false;
}

/// Copies one instruction; returns why that is impossible, or null.
static const char *copyWord(uint32_t word, uint64_t address, Relocated &result,
                            AArch64Writer &out) {
  unsigned reg = word & 31;
  if ((word & 0x1f000000) == 0x10000000) { // adr, adrp
    int64_t value = (signedField(word, 5, 19) << 2) | ((word >> 29) & 3);
    bool isPage = word >> 31;
    out.load(reg, isPage ? (address & ~uint64_t(4095)) + value * 4096
                         : address + value);
    return nullptr;
  }
  if ((word & 0x3b000000) == 0x18000000) { // ldr literal
    if ((word & 0xff000000) != 0x58000000 && (word & 0xff000000) != 0x18000000)
      return "it loads a constant of a kind that cannot be moved";
    out.load(reg, address + signedField(word, 5, 19) * 4);
    out.word((word >> 30 ? 0xf9400000 : 0xb9400000) | (reg << 5) | reg);
    return nullptr;
  }
  if ((word & 0xfc000000) == 0x14000000) { // b
    out.jump(address + signedField(word, 0, 26) * 4);
    result.continues = false;
    return nullptr;
  }
  if ((word & 0xfc000000) == 0x94000000) { // bl
    out.word(0x58000070);                  // ldr x16, .+12
    out.word(0xd63f0200);                  // blr x16
    out.word(0x14000003);                  // b .+12
    out.constant(address + signedField(word, 0, 26) * 4);
    return nullptr;
  }
  unsigned bits = (word & 0xff000010) == 0x54000000   ? 19 // b.cond
                  : (word & 0x7e000000) == 0x34000000 ? 19 // cbz, cbnz
                  : (word & 0x7e000000) == 0x36000000 ? 14 // tbz, tbnz
                                                      : 0;
  if (bits) {
    uint32_t mask = ((uint32_t(1) << bits) - 1) << 5;
    out.word((word & ~mask) | (2 << 5)); // taken: .+8
    out.word(0x14000005);                // not taken: b .+20
    out.jump(address + signedField(word, 5, bits) * 4);
    return nullptr;
  }
  if ((word & 0xfffffc1f) == 0xd65f0000 || // ret
      (word & 0xfffffc1f) == 0xd61f0000)   // br
    result.continues = false;
  else if ((word & 0xfe000000) == 0xd6000000)
    return "its first instruction is a branch that is not known";
  out.word(word);
  return nullptr;
}

Relocated relocateAArch64(const FunctionCode &function, size_t needed,
                          uint8_t *copy, uint64_t address) {
  (void)address; // what is copied depends on the old place alone
  Relocated result;
  AArch64Writer out(copy);
  while (result.taken < needed) {
    if (!result.continues || result.taken + 4 > function.size) {
      result.refusal = "it is too short";
      return result;
    }
    uint32_t word;
    memcpy(&word, function.bytes + result.taken, sizeof(word));
    result.refusal =
        out.hasRoom()
            ? copyWord(word, function.address + result.taken, result, out)
            : "its first instructions are too long";
    if (result.refusal)
      return result;
    result.taken += 4;
  }
  if (branchesBack(function, result.taken))
    result.refusal = "it jumps back to its first instructions";
  result.size = out.size;
  return result;
}

} // namespace adbg::detour
