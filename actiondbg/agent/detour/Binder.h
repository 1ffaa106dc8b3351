//===- Binder.h - The agent's references to the tool ------------*- C++ -*-===//

#pragma once

#include "detour/LoadedObjects.h"

namespace adbg::detour {

/// The functions and data of MLIR and LLVM that the agent refers to, and does
/// not define. They are weak, so that the agent loads in any process; here they
/// are given the places that the tool has, whether it exports them or not.
class Binder {
public:
  /// Reads the agent's references, and adds their names to `wanted`.
  explicit Binder(SymbolSet &wanted);

  /// Binds each reference that `object` has a place for, or else a library that
  /// `object` was linked with, or the dynamic loader: but to none of `others`,
  /// which have an MLIR of their own.
  void bind(const LoadedObject &object, const SymbolSet &wanted,
            const SymbolPlaces &places,
            const std::vector<LoadedObject> &others) const;
  /// The names of the references by number in `wanted`, and whether the MLIR
  /// of the current instance has each.
  std::vector<std::pair<size_t, bool>> bound() const;
  /// The places that hold the references.
  std::vector<uint64_t *> places() const;

private:
  struct Reference {
    size_t name;
    uint64_t *place;
    int64_t addend;
    /// Whether the loader binds it at the first call only.
    bool isLazy;
  };
  std::vector<Reference> references;
};

/// Returns the names that a function has in other builds and versions, where it
/// or a class among its parameters has another name there, and nothing else
/// differs. The texts live forever.
const std::vector<std::string> &otherNames(std::string_view symbol);

} // namespace adbg::detour
