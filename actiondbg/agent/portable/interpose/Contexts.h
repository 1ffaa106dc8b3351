//===- Contexts.h - The MLIR contexts that were seen ------------*- C++ -*-===//

#ifndef ACTIONDBG_PORTABLE_CONTEXTS_H
#define ACTIONDBG_PORTABLE_CONTEXTS_H

namespace adbg {

/// Remembers a context. Contexts that are gone stay: a pointer is only compared
/// with them to confirm the layout of a class.
void noteContext(const void *context);
bool isContext(const void *pointer);

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_CONTEXTS_H
