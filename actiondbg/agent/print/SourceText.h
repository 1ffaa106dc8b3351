//===- SourceText.h - The text that IR was parsed from ----------*- C++ -*-===//

#ifndef ACTIONDBG_SOURCETEXT_H
#define ACTIONDBG_SOURCETEXT_H

#include "interpose/Versions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace adbg {

/// Whether a character belongs to the name of a value.
inline bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.' || c == '-';
}

/// The text at the places of locations, in the tool's input files. An operation
/// that was parsed has its location behind its results, `%a, %b:2 = `; an
/// argument of a block has it at its name.
class SourceText {
public:
  /// Calls `see` with the number of the first result and the name of each group
  /// of an operation's results; not unless an operation of this name, with so
  /// many results, is at the place. Names live as long as this.
  void resultsAt(const FilePlace &place, llvm::StringRef name, unsigned results,
                 llvm::function_ref<void(unsigned, llvm::StringRef)> see);
  /// Returns the name at a place; empty if it is not that of a value.
  llvm::StringRef valueAt(const FilePlace &place);

private:
  struct File {
    std::string text;
    /// The offset of each line; empty if the text is not used.
    std::vector<size_t> lines;
  };
  const File &fileOf(mlir::StringAttr name);
  void read(File &file, const std::string &path);
  /// Returns the offset of a place in a file.
  static std::optional<size_t> offsetOf(const File &file,
                                        const FilePlace &place);

  std::unordered_map<const void *, std::unique_ptr<File>> files;
};

} // namespace adbg

#endif // ACTIONDBG_SOURCETEXT_H
