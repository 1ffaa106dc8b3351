//===- InterposeJumps.cpp - Actions that are left by longjmp --------------===//
//
// A tool that recovers from a crash, as llvm::CrashRecoveryContext does, leaves
// its actions without an end. Their frames must be dropped while they are still
// in memory: the tool's next calls overwrite them.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "support/JumpBuffer.h"

using namespace adbg;

namespace {
enum class Function : uint8_t { Plain, Fast, Signals, Checked };
} // namespace

using Jump = void(__jmp_buf_tag *, int);

static Jump *nextJump(Function function) {
  // Looked up early: a jump may leave a signal handler.
  static Jump *const next[] = {real<Jump>("longjmp"), real<Jump>("_longjmp"),
                               real<Jump>("siglongjmp"),
                               real<Jump>("__longjmp_chk")};
  return next[static_cast<unsigned>(function)];
}

__attribute__((constructor)) static void findJumps() {
  nextJump(Function::Plain);
}

[[noreturn]] static void jump(Function function, __jmp_buf_tag *buffer,
                              int value) {
  if (uintptr_t stack = stackAfter(buffer))
    Engine::jumps(stack);
  nextJump(function)(buffer, value);
  __builtin_unreachable();
}

extern "C" {

#define ADBG_JUMP(NAME, SYMBOL, FUNCTION)                                      \
  ADBG_LIBC(void, NAME, SYMBOL, __jmp_buf_tag *buffer, int value) {            \
    jump(Function::FUNCTION, buffer, value);                                   \
  }

ADBG_JUMP(jumpPlainly, "longjmp", Plain)
ADBG_JUMP(jumpFast, "_longjmp", Fast)
ADBG_JUMP(jumpWithSignals, "siglongjmp", Signals)
ADBG_JUMP(jumpChecked, "__longjmp_chk", Checked)
}
