//===- InputNames.h - The names of values in parsed text --------*- C++ -*-===//

#pragma once

#include "observe/Identity.h"
#include "support/Locations.h"

namespace adbg {

/// Whether a character belongs to the name of a value.
inline bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.' || c == '-';
}

class SourceText;

/// The names that values had in the texts that were parsed, such as `%508`.
/// MLIR forgets them: its printer numbers values anew.
class InputNames {
public:
  static InputNames &all() { return immortal<InputNames>(); }

  /// Forks while no other thread changes the names; returns what `fork` does.
  pid_t inFork(function_ref<pid_t()> fork) {
    std::lock_guard<std::mutex> lock(mutex);
    return fork();
  }
  /// Forgets all names: the ids of operations start anew.
  void clear();
  /// Called when an outermost action begins at `op`: reads the names of its IR
  /// from the tool's input files.
  void reached(Operation *op);

  /// A named value.
  struct Named {
    StringRef name;
    /// Its key, see ValueKeys.h.
    std::string key;
    /// The operation id of its scope, and of the operation that defines it or
    /// holds its block.
    uint32_t scope, id;
  };
  /// Returns all names, as `writeNames` writes those of the input, if there are
  /// any that were not returned yet.
  std::string takeNew();
  /// Calls `see` with the values of a scope, also those that are erased.
  void inScope(uint32_t scope, function_ref<void(const Named &)> see);
  /// Returns the value with a key; nothing if the input does not name it.
  /// `block`: 0 for a result of the operation `id`, otherwise the number of the
  /// block with the argument.
  std::optional<Named> of(uint32_t id, uint32_t block, uint32_t index);
  /// Calls `see` with the values of a name, in the order of their scopes.
  void withName(StringRef name, function_ref<void(const Named &)> see);
  /// The largest number of a numbered result, `%508`, or of a numbered
  /// argument, `%arg7`; -1 for none.
  int64_t largestResult() const { return largest[0]; }
  int64_t largestArgument() const { return largest[1]; }

private:
  struct Entry {
    uint32_t scope, id;
    /// The number of the result; or of the argument, of the block with a
    /// number, if that is not 0.
    uint32_t index, block;
    uint32_t name;
  };
  /// Identifies a value.
  static std::array<uint32_t, 3> keyOf(const Entry &entry) {
    return {entry.block, entry.block ? 0 : entry.id, entry.index};
  }
  void add(Entry entry, StringRef name);
  void number(StringRef name);
  /// Adds the names of `most` operations at most.
  void addFromSource(Operation *root, size_t most);
  void addResult(Operation *op, unsigned first, StringRef name);
  void addArguments(Block &block, SourceText &source);
  /// Orders the names for lookups: at the first one, as most runs make none.
  void order();
  Named describe(const Entry &entry) const;
  StringRef nameOf(const Entry &entry) const {
    return StringRef(names.data() + entry.name);
  }

  std::mutex mutex;
  /// Whether names are read from files: not where that crashes.
  bool readsFiles = true;
  bool isOrdered = true;
  /// The operations without a parent whose names are known, by id.
  std::unordered_set<uint32_t> roots;
  /// The number of entries that `takeNew` has returned.
  size_t taken = 0;
  /// Ordered by scope.
  std::vector<Entry> entries;
  /// Their indices, ordered by value.
  std::vector<uint32_t> byValue;
  /// Each ends with a null character.
  std::string names;
  int64_t largest[2] = {-1, -1};
};

} // namespace adbg
