//===- Unwinding.cpp - Functions that an exception leaves -----------------===//
//
// The agent is compiled without exceptions, and a program may have several
// unwinders, whose functions the agent cannot know. But each unwinder calls the
// personality routine of every frame on its way. So a function in assembly,
// which calls the tool, has a personality routine of the agent.
//
//===----------------------------------------------------------------------===//

#include "support/Unwinding.h"

using namespace adbg;

namespace {
struct Call {
  function_ref<void()> run, leave;
  Call *outer;
};
thread_local Call *innermost = nullptr;
} // namespace

extern "C" {

/// Calls `function(argument)`.
__attribute__((visibility("hidden"))) void
adbg_call_watched(void (*function)(void *), void *argument);

/// Called by unwinders, which look for a handler first. Calls inside of this
/// one have been left before.
__attribute__((visibility("hidden"), used)) int
adbg_pass(int, int actions, uint64_t, void *, void *) {
  constexpr int cleans = 2, goOn = 8; // _UA_CLEANUP_PHASE, _URC_CONTINUE_UNWIND
  if (Call *call = innermost; call && (actions & cleans)) {
    innermost = call->outer;
    call->leave();
  }
  return goOn;
}
}

#if defined(__x86_64__)
__asm__(R"(
  .text
  .hidden adbg_call_watched
  .globl adbg_call_watched
  .type adbg_call_watched, @function
adbg_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, adbg_pass
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  popq %rbp
  .cfi_def_cfa %rsp, 8
  retq
  .cfi_endproc
  .size adbg_call_watched, .-adbg_call_watched
)");
#elif defined(__aarch64__)
__asm__(R"(
  .text
  .hidden adbg_call_watched
  .globl adbg_call_watched
  .type adbg_call_watched, %function
adbg_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, adbg_pass
  stp x29, x30, [sp, -16]!
  .cfi_def_cfa_offset 16
  .cfi_offset 29, -16
  .cfi_offset 30, -8
  mov x29, sp
  mov x2, x0
  mov x0, x1
  blr x2
  ldp x29, x30, [sp], 16
  .cfi_restore 30
  .cfi_restore 29
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size adbg_call_watched, .-adbg_call_watched
)");
#endif

void adbg::callWatched(function_ref<void()> run, function_ref<void()> leave) {
  Call call{run, leave, innermost};
  innermost = &call;
  adbg_call_watched(
      [](void *argument) { static_cast<Call *>(argument)->run(); }, &call);
  innermost = call.outer;
}

void adbg::forgetCalls(uintptr_t stack) {
  while (innermost && reinterpret_cast<uintptr_t>(innermost) < stack)
    innermost = innermost->outer;
}
