//===- NewerFunctions.cpp - Functions of newer versions of MLIR -----------===//
//
// Functions whose arguments changed after LLVM 22. The agent without headers
// follows the ones that the tool has.
//
//===----------------------------------------------------------------------===//

#include "interpose/Interpose.h"
#include "interpose/InterposeIR.h"

using namespace mlir;
using namespace adbg;

extern "C++" {

#define ADBG_CLONE_BY_REFERENCE "_ZN4mlir9Operation5cloneERKNS0_12CloneOptionsE"
#define ADBG_CLONE_MAPPED_BY_REFERENCE                                         \
  "_ZN4mlir9Operation5cloneERNS_9IRMappingERKNS0_12CloneOptionsE"

ADBG_INTERPOSE(Operation *, cloneByReference, ADBG_CLONE_BY_REFERENCE,
               Operation *self, const void *options) {
  static auto *next =
      real<Operation *(Operation *, const void *)>(ADBG_CLONE_BY_REFERENCE);
  return runClone(self, [&] { return next(self, options); });
}

ADBG_INTERPOSE(Operation *, cloneMappedByReference,
               ADBG_CLONE_MAPPED_BY_REFERENCE, Operation *self, void *mapping,
               const void *options) {
  static auto *next = real<Operation *(Operation *, void *, const void *)>(
      ADBG_CLONE_MAPPED_BY_REFERENCE);
  return runClone(self, [&] { return next(self, mapping, options); });
}

} // extern "C++"
