//===- LateLibraries.cpp - Libraries that a program loads later -----------===//
//
// The dynamic loader calls an empty function of its own at each change, in
// which debuggers set a breakpoint. Source: link.h of the C library.
//
//===----------------------------------------------------------------------===//

#include "detour/LateLibraries.h"
#include "detour/Detour.h"

namespace adbg::detour {

static void (*listener)();

/// Instead of the loader's function.
static void librariesChanged() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT)
    listener();
}

const char *watchLibraries(void (*onChange)()) {
  listener = onChange;
  auto *function = reinterpret_cast<void *>(_r_debug.r_brk);
  for (const LoadedObject &object : loadedObjects())
    if (object.contains(function))
      return replaceEmpty(object, function,
                          reinterpret_cast<void *>(librariesChanged));
  return "the dynamic loader is not found";
}

} // namespace adbg::detour
