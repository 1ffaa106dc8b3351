//===- LeftOut.cpp - Capabilities that the user does without --------------===//

#include "support/LeftOut.h"

#include "llvm/ADT/SmallVector.h"
#include <cstdlib>
#include <cstring>

using llvm::StringRef;

namespace adbg {

/// Names with commas between them.
static char wanted[512];

// Early: another constructor removes the variable.
__attribute__((constructor(101))) static void readWithout() {
  if (const char *value = getenv("ACTIONDBG_WITHOUT"))
    strncpy(wanted, value, sizeof(wanted) - 1);
}

bool isLeftOut(StringRef capability) {
  llvm::SmallVector<StringRef, 8> names;
  StringRef(wanted).split(names, ',');
  for (StringRef name : names)
    if (name == capability)
      return true;
  return false;
}

} // namespace adbg
