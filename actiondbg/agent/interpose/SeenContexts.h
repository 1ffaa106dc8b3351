//===- SeenContexts.h - The contexts that were seen ------------*- C++ -*-===//

#ifndef ACTIONDBG_INTERPOSE_SEENCONTEXTS
#define ACTIONDBG_INTERPOSE_SEENCONTEXTS

namespace adbg {

/// Remembers a context. Contexts that are gone stay: a pointer is only compared
/// with them to confirm the layout of a class.
void noteContext(const void *context);
bool isContext(const void *pointer);

} // namespace adbg

#endif // ACTIONDBG_INTERPOSE_SEENCONTEXTS
