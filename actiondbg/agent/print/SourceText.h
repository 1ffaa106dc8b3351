//===- SourceText.h - The text that IR was parsed from ----------*- C++ -*-===//

#pragma once

#include "interpose/Versions.h"

namespace adbg {

/// Whether a character belongs to the name of a value.
inline bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.' || c == '-';
}

/// An operation with results.
struct Defining {
  StringRef name;
  unsigned results;
  /// Its block, and the one around that.
  const void *block, *outer;
  /// Whether its block may not be in the text, as the body of linalg.matmul.
  bool mayBeImplied;
};

/// The texts that the tool may have parsed, by its command. Operations are
/// found in them by their order, whatever their locations are.
class OrderedTexts {
public:
  /// Calls `see` with the index of an operation, the number of the first result
  /// and the name of each group of its results. `ops` are all operations with
  /// results of some IR, in the order in which they were parsed. Does nothing
  /// unless the next definitions in a text are theirs, by their names and the
  /// numbers of their results, all those of a block or none.
  void match(ArrayRef<Defining> ops,
             function_ref<void(size_t, unsigned, StringRef)> see);

  /// Whether nothing more can be found.
  bool isOver() const { return areRead && texts.empty(); }

private:
  struct Text {
    std::string text;
    /// The offset behind the results of each definition.
    std::vector<size_t> definitions;
    /// How many of them belong to IR before: a file may be split.
    size_t used = 0;
  };
  /// Those that have definitions left.
  std::vector<Text> texts;
  bool areRead = false;
};

/// The text at the places of locations, in the tool's input files. An operation
/// that was parsed has its location behind its results, `%a, %b:2 = `; an
/// argument of a block has it at its name.
class SourceText {
public:
  /// Calls `see` with the number of the first result and the name of each group
  /// of an operation's results; not unless an operation of this name, with so
  /// many results, is at the place. Names live as long as this.
  void resultsAt(const FilePlace &place, StringRef name, unsigned results,
                 function_ref<void(unsigned, StringRef)> see);
  /// Returns the name at a place; empty if it is not that of a value.
  StringRef valueAt(const FilePlace &place);
  /// Calls `see` with every name in the files that were read.
  void eachName(function_ref<void(StringRef)> see) const;

private:
  struct File {
    std::string text;
    /// The offset of each line; empty if the text is not used.
    std::vector<size_t> lines;
  };
  const File &fileOf(StringAttr name);
  void read(File &file, const std::string &path);
  /// Returns the name that begins with the `%` at an offset; empty for none.
  static StringRef nameAt(const File &file, size_t offset);
  /// Returns the offset of a place in a file.
  static std::optional<size_t> offsetOf(const File &file,
                                        const FilePlace &place);

  std::unordered_map<const void *, std::unique_ptr<File>> files;
};

} // namespace adbg
