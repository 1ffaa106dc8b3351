//===- SymbolCache.h - Symbols that were found before -----------*- C++ -*-===//

#pragma once

#include "detour/SymbolSet.h"

#include <string>

namespace adbg::detour {

/// The file in the folder $ACTIONDBG_CACHE with the places of symbols in one
/// build of an object, whose stripped copies have files of their own. Without
/// the folder, or a build-id, there is none.
class SymbolCache {
public:
  SymbolCache(const std::string &object, const std::string &buildId,
              const SymbolSet &wanted);

  /// Returns false if there is no file of this kind, or other users may have
  /// written it: what is in it is called.
  bool read(SymbolPlaces &places) const;
  /// A file that cannot be written is not missed.
  void write(const SymbolPlaces &places) const;

private:
  std::string path;
  size_t count;
};

} // namespace adbg::detour
