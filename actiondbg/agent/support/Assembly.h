//===- Assembly.h - Functions in assembly -----------------------*- C++ -*-===//

#pragma once

/// Defines a function of the agent's own by its instructions, and directives
/// about its frame.
#define ADBG_ASSEMBLY(NAME, INSTRUCTIONS)                                      \
  __asm__(".text\n"                                                            \
          ".hidden " NAME "\n"                                                 \
          ".globl " NAME "\n"                                                  \
          ".type " NAME ", %function\n" NAME ":\n"                             \
          ".cfi_startproc\n" INSTRUCTIONS ".cfi_endproc\n"                     \
          ".size " NAME ", .-" NAME "\n")
