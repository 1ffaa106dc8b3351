//===- RelocatorX86.cpp - The first instructions, on x86-64 ---------------===//

#include "detour/Relocator.h"
#include "detour/X86.h"

namespace adbg::detour {

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

  /// Writes an opcode and the distance of a target, which ends it.
  bool toTarget(std::initializer_list<uint8_t> opcode, uint64_t target) {
    bytes(opcode.begin(), opcode.size());
    return distance(size, size + 4, target, /*isNew=*/true);
  }

  /// Writes the 4 bytes at `place` for an instruction that ends at `end`.
  bool distance(size_t place, size_t end, uint64_t target, bool isNew = false) {
    int64_t far = static_cast<int64_t>(target - (address + end));
    auto near = static_cast<int32_t>(far);
    memcpy(copy + place, &near, sizeof(near));
    if (isNew)
      size += sizeof(near);
    return near == far;
  }

  uint8_t *copy;
  uint64_t address;
  size_t size = 0;
};

} // namespace

static const char *const tooFar = "its code refers to memory too far away";

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
    return out.distance(begin + instruction.relative, out.size, end + distance)
               ? nullptr
               : tooFar;
  }
  case Branch::Jump:
    return out.toTarget({0xe9}, target) ? nullptr : tooFar;
  case Branch::Call:
    return out.toTarget({0xe8}, target) ? nullptr : tooFar;
  case Branch::Conditional:
    return out.toTarget(
               {0x0f, static_cast<uint8_t>(0x80 | instruction.condition)},
               target)
               ? nullptr
               : tooFar;
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
    if (instruction.branch == Branch::None ||
        instruction.branch == Branch::Leaves)
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
