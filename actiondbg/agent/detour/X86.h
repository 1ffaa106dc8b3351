//===- X86.h - Lengths of x86-64 instructions -------------------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg::detour {

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
  /// The distance of a branch with a constant target, from the end.
  int64_t distance = 0;
  /// The condition of a conditional jump.
  uint8_t condition = 0;
  /// Whether it only fills space between functions.
  bool isPadding = false;

  static X86Instruction at(const uint8_t *bytes, size_t size);
};

} // namespace adbg::detour
