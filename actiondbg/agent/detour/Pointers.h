//===- Pointers.h - Pointers to functions in tables -------------*- C++ -*-===//

#pragma once

#include "detour/LoadedObjects.h"

#include <vector>

namespace adbg::detour {

/// A function, and what is called instead.
struct Redirection {
  uint64_t from, to;
};

/// Replaces pointers to functions in an object's tables of virtual functions.
/// A compiler may inline a virtual function where it guesses the class: it
/// compares such a pointer with the function that it knows, and calls nothing
/// if they are equal. The object must be relocated.
void redirectPointers(const LoadedObject &object,
                      std::vector<Redirection> redirections);

} // namespace adbg::detour
