//===- SeenContexts.h - The contexts that were seen ------------*- C++ -*-===//

#pragma once

namespace adbg {

/// Remembers a context. Contexts that are gone stay: a pointer is only compared
/// with them to confirm the layout of a class.
void noteContext(const void *context);
bool isContext(const void *pointer);

} // namespace adbg
