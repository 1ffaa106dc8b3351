//===- RelocatorX86.cpp - The first instructions, on x86-64 ---------------===//
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, appendix A, "Opcode Map".
//
//===----------------------------------------------------------------------===//

#include "detour/Detour.h"

namespace adbg::detour {

//===----------------------------------------------------------------------===//
// Lengths of instructions
//===----------------------------------------------------------------------===//

/// An instruction in 64-bit mode, as far as moving it requires.
struct X86Instruction {
  enum class Branch : uint8_t {
    None,
    Jump,        // jmp
    Conditional, // jcc
    Call,        // call
    Short,       // loop, jrcxz: no form with a long distance
    Leaves,      // ret, ud2, indirect jump: what follows is not reached
  };

  /// 0 if the instruction is not known.
  size_t length = 0;
  /// The offset of the 4 bytes relative to the end; 0 if there is no operand
  /// relative to the instruction pointer.
  size_t relative = 0;
  Branch branch = Branch::None;
  bool hasTarget() const {
    return branch != Branch::None && branch != Branch::Leaves;
  }
  /// The distance of a branch with a constant target, from the end.
  int64_t distance = 0;
  /// The condition of a conditional jump.
  uint8_t condition = 0;
  /// Whether it only fills space between functions.
  bool isPadding = false;

  static X86Instruction at(const uint8_t *bytes, size_t size);
};

namespace {

/// Opcode maps, as VEX and EVEX prefixes number them; 0 has no escape byte.
enum Map : uint8_t { OneByte = 0, Escape = 1, Escape38 = 2, Escape3A = 3 };

/// What follows an opcode, by its value: `-` for an unknown opcode; `.`
/// nothing; `i` a byte, `w` a word or long, `v` that or, with REX.W, 8 bytes;
/// `m` operands, `b` with a byte, `z` with a word or long. `c` and `K` are
/// conditional jumps, `j` and `J` jumps, `C` a call, by a byte or a long; `s` a
/// short jump; `l` leaves the function, as `r` with two bytes and the padding
/// `P`; `p` and `N` are padding, the latter with operands. Of the groups `t`,
/// `f` and `F` the operands say what they are. Prefixes are not looked up.
constexpr char oneByte[] = "mmmmiw--mmmmiw--mmmmiw--mmmmiw--"
                           "mmmmiw--mmmmiw--mmmmiw--mmmmiw--"
                           "----------------................"
                           "---m----wzib----cccccccccccccccc"
                           "bz-bmmmmmmmmmmmmp.........------"
                           "----....iw......iiiiiiiivvvvvvvv"
                           "bbrl--bz-.--P---mmmm----mmmmmmmm"
                           "ssss----CJ-j----------tt------fF";
/// The same behind the escape byte 0f.
constexpr char escaped[] = "-----------l-m--mmmmmmmmmmmmmmmN"
                           "--------mmmmmmmm-.--------------"
                           "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
                           "mmmmmmmmmmmmmmmmbbbbmmm.----mmmm"
                           "KKKKKKKKKKKKKKKKmmmmmmmmmmmmmmmm"
                           "--.mbm-----mbmmmmmmmmmmmmmbmmmmm"
                           "mmbmbbbm........mmmmmmmmmmmmmmmm"
                           "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";
static_assert(sizeof(oneByte) == 257 && sizeof(escaped) == 257);

/// Reads an instruction byte by byte.
class X86Reader {
public:
  X86Reader(const uint8_t *bytes, size_t size)
      : bytes(bytes), size(size < 15 ? size : 15) {}

  X86Instruction read() {
    if (!readPrefixes() || !readOpcode())
      return {};
    size_t immediate = 0;
    char kind = map == OneByte    ? oneByte[opcode]
                : map == Escape   ? escaped[opcode]
                : map == Escape38 ? 'm'
                                  : 'b';
    if (!readRest(kind, immediate))
      return {};
    if (instruction.hasTarget())
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

  /// Reads what follows an opcode; returns false if its kind is not known.
  bool readRest(char kind, size_t &immediate) {
    using Branch = X86Instruction::Branch;
    auto isAmong = [=](const char *kinds) { return strchr(kinds, kind); };
    if (isAmong("mbztfFN"))
      readOperands();
    immediate = isAmong("bicsj")  ? 1
                : kind == 'r'     ? 2
                : isAmong("CJK")  ? 4
                : isAmong("zw")   ? wordOrLong()
                : kind == 'v'     ? (rex & 8 ? 8 : wordOrLong())
                : kind != 't'     ? 0
                : extension() > 1 ? 0
                : opcode == 0xf6  ? 1
                                  : wordOrLong();
    bool isIndirect = kind == 'F' && extension() == 4;
    instruction.branch = isAmong("cK")                  ? Branch::Conditional
                         : isAmong("jJ")                ? Branch::Jump
                         : kind == 'C'                  ? Branch::Call
                         : kind == 's'                  ? Branch::Short
                         : isAmong("lrP") || isIndirect ? Branch::Leaves
                                                        : Branch::None;
    if (instruction.branch == Branch::Conditional)
      instruction.condition = opcode & 15;
    instruction.isPadding = isAmong("pPN");
    if (kind == 'f')
      return extension() < 2;
    if (kind == 'F')
      return extension() != 3 && extension() != 5 && extension() != 7;
    // Processors disagree on jumps with the prefix 66; VEX has no jumps.
    bool isRefused = isAmong("CJK") && (isWord || isVector);
    return kind != '-' && !isRefused;
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

//===----------------------------------------------------------------------===//
// Relocation
//===----------------------------------------------------------------------===//

namespace {

using Branch = X86Instruction::Branch;

/// Writes instructions that will run at an address.
class X86Writer {
public:
  X86Writer(uint8_t *copy, uint64_t address) : copy(copy), address(address) {}

  bool hasRoom() const { return size + 32 <= mostRelocated; }

  void bytes(const uint8_t *from, size_t count) {
    memcpy(copy + size, from, count);
    size += count;
  }

  /// Writes an opcode and the distance of a target, which ends it; returns why
  /// that is impossible, or null.
  const char *toTarget(std::initializer_list<uint8_t> opcode, uint64_t target) {
    bytes(opcode.begin(), opcode.size());
    size += sizeof(int32_t);
    return distance(size - sizeof(int32_t), target);
  }

  /// Writes the 4 bytes at `place` in the newest instruction; likewise.
  const char *distance(size_t place, uint64_t target) {
    int64_t far = static_cast<int64_t>(target - (address + size));
    auto near = static_cast<int32_t>(far);
    memcpy(copy + place, &near, sizeof(near));
    return near == far ? nullptr : "its code refers to memory too far away";
  }

  uint8_t *copy;
  uint64_t address;
  size_t size = 0;
};

} // namespace

/// Copies one instruction; returns why that is impossible, or null.
static const char *copyInstruction(const X86Instruction &instruction,
                                   const FunctionCode &function, size_t at,
                                   X86Writer &out) {
  uint64_t end = function.address + at + instruction.length;
  uint64_t target = end + instruction.distance;
  switch (instruction.branch) {
  case Branch::None:
  case Branch::Leaves: {
    size_t begin = out.size;
    out.bytes(function.bytes + at, instruction.length);
    if (!instruction.relative)
      return nullptr;
    int32_t distance;
    memcpy(&distance, function.bytes + at + instruction.relative,
           sizeof(distance));
    return out.distance(begin + instruction.relative, end + distance);
  }
  case Branch::Jump:
    return out.toTarget({0xe9}, target);
  case Branch::Call:
    return out.toTarget({0xe8}, target);
  case Branch::Conditional:
    return out.toTarget(
        {0x0f, static_cast<uint8_t>(0x80 | instruction.condition)}, target);
  case Branch::Short:
    break;
  }
  return "its first instructions have a branch without a long form";
}

/// Whether the rest of the function, as far as it can be read, jumps to the
/// bytes that a detour overwrites, or in a loop to its begin.
static bool jumpsBack(const FunctionCode &function, size_t taken) {
  for (size_t at = 0; at < function.size;) {
    X86Instruction instruction =
        X86Instruction::at(function.bytes + at, function.size - at);
    if (!instruction.length)
      return false;
    at += instruction.length;
    if (!instruction.hasTarget())
      continue;
    uint64_t offset = at + instruction.distance;
    // A call of the function itself is a call of it.
    if (offset < taken && (offset > 0 || instruction.branch != Branch::Call))
      return true;
  }
  return false;
}

Relocated relocateX86(const FunctionCode &function, size_t needed,
                      uint8_t *copy, uint64_t address) {
  Relocated result;
  X86Writer out(copy, address);
  while (result.taken < needed) {
    X86Instruction instruction = X86Instruction::at(
        function.bytes + result.taken, function.size - result.taken);
    if (!instruction.length) {
      result.refusal = result.continues
                           ? "its first instructions are not all known"
                           : "it is too short";
      return result;
    }
    if (!result.continues) {
      // Behind the end of the function.
      if (!instruction.isPadding) {
        result.refusal = "it is too short";
        return result;
      }
      result.taken += instruction.length;
      continue;
    }
    result.refusal = out.hasRoom() ? copyInstruction(instruction, function,
                                                     result.taken, out)
                                   : "its first instructions are too long";
    if (result.refusal)
      return result;
    result.taken += instruction.length;
    result.continues = instruction.branch != Branch::Jump &&
                       instruction.branch != Branch::Leaves;
  }
  if (jumpsBack(function, result.taken)) {
    result.refusal = "it jumps back to its first instructions";
    return result;
  }
  result.size = out.size;
  return result;
}

} // namespace adbg::detour
