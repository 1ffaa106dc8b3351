#include "support/Without.h"

namespace adbg {

/// Names with commas between them.
static char without[512];

// Before the hooks are installed, and before the environment is cleared.
__attribute__((constructor(102))) static void readNames() {
  if (const char *value = getenv("ACTIONDBG_WITHOUT"))
    strncpy(without, value, sizeof(without) - 1);
}

bool isSwitchedOff(StringRef capability) {
  StringRef left = without;
  while (!left.empty()) {
    auto [name, others] = left.split(',');
    if (name == capability)
      return true;
    left = others;
  }
  return false;
}

} // namespace adbg
