//===- X86.cpp - Lengths of x86-64 instructions ---------------------------===//
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, appendix A, "Opcode Map".
//
//===----------------------------------------------------------------------===//

#include "detour/X86.h"

namespace adbg::detour {

namespace {

/// Opcode maps, as VEX and EVEX prefixes number them; 0 has no escape byte.
enum Map : uint8_t { OneByte = 0, Escape = 1, Escape38 = 2, Escape3A = 3 };

/// Reads an instruction byte by byte.
class X86Reader {
public:
  X86Reader(const uint8_t *bytes, size_t size)
      : bytes(bytes), size(size < 15 ? size : 15) {}

  X86Instruction read() {
    if (!readPrefixes() || !readOpcode())
      return {};
    size_t immediate = 0;
    if (map == OneByte ? !readOneByte(immediate) : !readEscaped(immediate))
      return {};
    if (instruction.branch == X86Instruction::Branch::Jump ||
        instruction.branch == X86Instruction::Branch::Conditional ||
        instruction.branch == X86Instruction::Branch::Call ||
        instruction.branch == X86Instruction::Branch::Short)
      readDistance(immediate);
    at += immediate;
    if (at > size)
      return {};
    instruction.length = at;
    return instruction;
  }

private:
  uint8_t next() { return at < size ? bytes[at++] : (at = size + 1, 0); }

  bool readPrefixes() {
    for (;; ++at) {
      if (at >= size)
        return false;
      switch (bytes[at]) {
      case 0x66:
        isWord = true;
        break;
      case 0x2e:
      case 0x3e:
      case 0x26:
      case 0x36:
      case 0x64:
      case 0x65:
      case 0xf2:
      case 0xf3:
        break;
      case 0x67:
        return false; // compilers do not write 32-bit addresses
      default:
        if ((bytes[at] & 0xf0) == 0x40)
          rex = bytes[at++];
        return true;
      }
    }
  }

  bool readOpcode() {
    opcode = next();
    if (opcode == 0xc5) {
      next();
      map = Escape;
      isVector = true;
      opcode = next();
    } else if (opcode == 0xc4 || opcode == 0x62) {
      unsigned more = opcode == 0x62 ? 2 : 1;
      map = Map(next() & (opcode == 0x62 ? 7 : 31));
      while (more--)
        next();
      isVector = true;
      opcode = next();
      if (map < Escape || map > Escape3A)
        return false;
    } else if (opcode == 0x0f) {
      opcode = next();
      map = Escape;
      if (opcode == 0x38 || opcode == 0x3a) {
        map = opcode == 0x38 ? Escape38 : Escape3A;
        opcode = next();
      }
    }
    return at <= size;
  }

  /// Reads the bytes that say where the operands are.
  void readOperands() {
    modrm = next();
    unsigned mode = modrm >> 6, base = modrm & 7;
    if (mode == 3)
      return;
    if (base == 4) {
      uint8_t sib = next();
      if (mode == 0 && (sib & 7) == 5)
        at += 4;
    } else if (mode == 0 && base == 5) {
      instruction.relative = at;
      at += 4;
    }
    at += mode == 1 ? 1 : mode == 2 ? 4 : 0;
  }

  unsigned extension() const { return (modrm >> 3) & 7; }
  size_t wordOrLong() const { return isWord ? 2 : 4; }

  bool readOneByte(size_t &immediate) {
    using Branch = X86Instruction::Branch;
    if (opcode < 0x40) {
      unsigned kind = opcode & 7;
      if (kind >= 6)
        return false; // segment registers, and decimal arithmetic
      if (kind < 4)
        readOperands();
      else
        immediate = kind == 4 ? 1 : wordOrLong();
      return true;
    }
    if (opcode >= 0x50 && opcode < 0x60)
      return true; // push, pop
    if (opcode >= 0x70 && opcode < 0x80) {
      immediate = 1;
      instruction.branch = Branch::Conditional;
      instruction.condition = opcode & 15;
      return true;
    }
    if (opcode >= 0xb0 && opcode < 0xc0) {
      immediate = opcode < 0xb8 ? 1 : rex & 8 ? 8 : wordOrLong();
      return true;
    }
    if (opcode >= 0xd8 && opcode < 0xe0) {
      readOperands(); // x87
      return true;
    }
    switch (opcode) {
    case 0x63: // movslq
    case 0x84 ... 0x8f:
    case 0xd0 ... 0xd3:
      readOperands();
      return true;
    case 0x68:
    case 0xa9:
      immediate = wordOrLong();
      return true;
    case 0x69:
    case 0x81:
    case 0xc7:
      readOperands();
      immediate = wordOrLong();
      return true;
    case 0x6a:
    case 0xa8:
      immediate = 1;
      return true;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
      readOperands();
      immediate = 1;
      return true;
    case 0x90:
      instruction.isPadding = true;
      return true;
    case 0x91 ... 0x99:
    case 0xa4 ... 0xa7:
    case 0xaa ... 0xaf:
      return true;
    case 0xc9: // leave
      return true;
    case 0xc2:
      immediate = 2;
      instruction.branch = Branch::Leaves;
      return true;
    case 0xc3:
      instruction.branch = Branch::Leaves;
      return true;
    case 0xcc:
      instruction.isPadding = true;
      instruction.branch = Branch::Leaves;
      return true;
    case 0xe0 ... 0xe3:
      immediate = 1;
      instruction.branch = Branch::Short;
      return true;
    case 0xe8:
    case 0xe9:
      if (isWord)
        return false;
      immediate = 4;
      instruction.branch = opcode == 0xe8 ? Branch::Call : Branch::Jump;
      return true;
    case 0xeb:
      immediate = 1;
      instruction.branch = Branch::Jump;
      return true;
    case 0xf6:
    case 0xf7:
      readOperands();
      if (extension() < 2) // test
        immediate = opcode == 0xf6 ? 1 : wordOrLong();
      return true;
    case 0xfe:
      readOperands();
      return extension() < 2;
    case 0xff:
      readOperands();
      if (extension() == 4)
        instruction.branch = Branch::Leaves;
      return extension() != 3 && extension() != 5 && extension() != 7;
    default:
      return false;
    }
  }

  bool readEscaped(size_t &immediate) {
    using Branch = X86Instruction::Branch;
    if (map == Escape38) {
      readOperands();
      return true;
    }
    if (map == Escape3A) {
      readOperands();
      immediate = 1;
      return true;
    }
    switch (opcode) {
    case 0x0b: // ud2
      instruction.branch = Branch::Leaves;
      return true;
    case 0x0d:
    case 0x10 ... 0x1d:
    case 0x28 ... 0x2f:
    case 0x40 ... 0x6f:
    case 0x74 ... 0x76:
    case 0x7c ... 0x7f:
    case 0x90 ... 0x9f:
    case 0xa3:
    case 0xa5:
    case 0xab:
    case 0xad ... 0xb9:
    case 0xbb ... 0xc1:
    case 0xc3:
    case 0xc7:
    case 0xd0 ... 0xff:
      readOperands();
      return true;
    case 0x1e: // endbr64 too
      readOperands();
      return true;
    case 0x1f:
      instruction.isPadding = true;
      readOperands();
      return true;
    case 0x70 ... 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4 ... 0xc6:
      readOperands();
      immediate = 1;
      return true;
    case 0x77:
    case 0xa2: // cpuid
    case 0x31: // rdtsc
    case 0xc8 ... 0xcf:
      return true;
    case 0x80 ... 0x8f:
      if (isVector || isWord)
        return false;
      immediate = 4;
      instruction.branch = Branch::Conditional;
      instruction.condition = opcode & 15;
      return true;
    default:
      return false;
    }
  }

  void readDistance(size_t bytesOfIt) {
    if (at + bytesOfIt > size)
      return;
    if (bytesOfIt == 1) {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse)
      instruction.distance = static_cast<int8_t>(bytes[at]);
      return;
    }
    int32_t distance;
    memcpy(&distance, bytes + at, sizeof(distance));
    instruction.distance = distance;
  }

  const uint8_t *bytes;
  size_t size, at = 0;
  bool isWord = false, isVector = false;
  uint8_t rex = 0, opcode = 0, modrm = 0;
  Map map = OneByte;
  X86Instruction instruction;
};

} // namespace

X86Instruction X86Instruction::at(const uint8_t *bytes, size_t size) {
  return X86Reader(bytes, size).read();
}

} // namespace adbg::detour
