// Prints how far from the place of a setjmp a jump to it leads: a stack grows
// downwards, and no frame here is large.
#include "support/Registers.h"

#include <iostream>

__attribute__((noinline)) static bool leadsHere(const __jmp_buf_tag *buffer,
                                                uintptr_t caller) {
  uintptr_t stack = adbg::stackAfter(buffer);
  auto own = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return own < stack && stack <= caller;
}

int main() {
  jmp_buf buffer;
  auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (setjmp(buffer) == 0) {
    // aarch64 has the frame's address at its lower end.
    std::cout << (leadsHere(buffer, frame) ? "here" : "elsewhere") << '\n';
    longjmp(buffer, 1);
  }
  std::cout << "returned\n";
}
