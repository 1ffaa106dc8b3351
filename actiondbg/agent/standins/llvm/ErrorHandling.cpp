//===- ErrorHandling.cpp - Errors that end the process --------------------===//

#include "llvm/Support/ErrorHandling.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {

void report_bad_alloc_error(const char *reason, bool) {
  for (StringRef part : {StringRef("LLVM ERROR: out of memory\n"),
                         StringRef(reason), StringRef("\n")})
    if (::write(2, part.data(), part.size()) < 0)
      break;
  std::abort();
}

} // namespace llvm
