//===- InterposeJumps.cpp - Actions that are left by longjmp --------------===//
//
// A tool that recovers from a crash, as llvm::CrashRecoveryContext does, leaves
// its actions without an end. Their frames must be dropped while they are still
// in memory: the tool's next calls overwrite them.
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "interpose/Interpose.h"

#include <csetjmp>

using namespace adbg;

namespace {
enum class Function : uint8_t { Plain, Fast, Signals, Checked };
} // namespace

/// Returns the stack pointer to which a jump leads; 0 if it is unknown. The C
/// library keeps it in a form that only the process itself can decode.
static uintptr_t stackAfter(const __jmp_buf_tag *buffer) {
#if defined(__x86_64__) && defined(__GLIBC__)
  constexpr int stackPointer = 6, bits = 17;
  auto kept = static_cast<uintptr_t>(buffer->__jmpbuf[stackPointer]);
  uintptr_t guard;
  __asm__("mov %%fs:0x30, %0" : "=r"(guard));
  return ((kept >> bits) | (kept << (64 - bits))) ^ guard;
#else
  (void)buffer;
  return 0;
#endif
}

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
  ADBG_EXPORT void NAME(__jmp_buf_tag *buffer, int value) __asm__(SYMBOL);     \
  void NAME(__jmp_buf_tag *buffer, int value) {                                \
    jump(Function::FUNCTION, buffer, value);                                   \
  }

ADBG_JUMP(jumpPlainly, "longjmp", Plain)
ADBG_JUMP(jumpFast, "_longjmp", Fast)
ADBG_JUMP(jumpWithSignals, "siglongjmp", Signals)
ADBG_JUMP(jumpChecked, "__longjmp_chk", Checked)
}
