//===- LoadedObjects.h - Programs and libraries in memory -------*- C++ -*-===//

#pragma once

#include "detour/SymbolSet.h"

#include <elf.h>
#include <link.h>

namespace adbg::detour {

/// Takes a mangled name, and its symbol.
using SymbolVisitor = std::function<void(const char *, const ElfW(Sym) &)>;

/// An ELF program or library in this process.
struct LoadedObject {
  /// The file.
  std::string path;
  /// Added to addresses in the file.
  uint64_t bias = 0;
  /// The addresses in memory.
  uint64_t begin = 0, end = 0;
  /// The largest part that is code.
  uint64_t codeBegin = 0, codeEnd = 0;
  /// The part that is read-only once it is relocated.
  uint64_t constantsBegin = 0, constantsEnd = 0;
  /// As a hexadecimal number; empty if it has none.
  std::string buildId;
  /// The dynamic section in memory; null if there is none.
  const ElfW(Dyn) *dynamic = nullptr;

  bool contains(const void *address) const {
    auto place = reinterpret_cast<uint64_t>(address);
    return place >= begin && place < end;
  }
  /// Looks up names in the file's table of symbols, hidden ones too; without
  /// such a table, in that of dynamic symbols. A name that the object only
  /// refers to is not found. The result is kept in the folder
  /// $ACTIONDBG_CACHE, if there is one.
  SymbolPlaces find(const SymbolSet &wanted) const;
  /// Looks up an exported name, without reading the file.
  SymbolPlace findExported(const char *name) const;
  /// Whether the file has a table of symbols that are not exported.
  bool hasHiddenSymbols() const;
  /// Looks up names in the tables of the file.
  SymbolPlaces findInFile(const SymbolSet &wanted) const;
  /// Visits all mangled names that the object defines, in the same tables.
  void visitSymbols(const SymbolVisitor &visit) const;
};

/// Lists what is loaded, in the order of the dynamic loader, without the object
/// that this code is in.
std::vector<LoadedObject> loadedObjects();

} // namespace adbg::detour
