//===- Unwinding.cpp - Functions that an exception leaves -----------------===//
//
// The agent is compiled without exceptions, and a program may have several
// unwinders, whose functions the agent cannot know. But each unwinder calls the
// personality routine of every frame on its way. So a function in assembly,
// which calls the tool, has a personality routine of the agent.
//
//===----------------------------------------------------------------------===//

#include "support/Unwinding.h"
#include "support/Assembly.h"

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
ADBG_ASSEMBLY("adbg_call_watched", ".cfi_personality 0x1b, adbg_pass\n"
                                   "  pushq %rbp\n"
                                   ".cfi_def_cfa_offset 16\n"
                                   ".cfi_offset %rbp, -16\n"
                                   "  movq %rsp, %rbp\n"
                                   ".cfi_def_cfa_register %rbp\n"
                                   "  movq %rdi, %rax\n"
                                   "  movq %rsi, %rdi\n"
                                   "  callq *%rax\n"
                                   "  popq %rbp\n"
                                   ".cfi_def_cfa %rsp, 8\n"
                                   "  retq\n");
#elif defined(__aarch64__)
ADBG_ASSEMBLY("adbg_call_watched", ".cfi_personality 0x1b, adbg_pass\n"
                                   "  stp x29, x30, [sp, -16]!\n"
                                   ".cfi_def_cfa_offset 16\n"
                                   ".cfi_offset 29, -16\n"
                                   ".cfi_offset 30, -8\n"
                                   "  mov x29, sp\n"
                                   "  mov x2, x0\n"
                                   "  mov x0, x1\n"
                                   "  blr x2\n"
                                   "  ldp x29, x30, [sp], 16\n"
                                   ".cfi_restore 30\n"
                                   ".cfi_restore 29\n"
                                   ".cfi_def_cfa_offset 0\n"
                                   "  ret\n");
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
