//===- Fields.h - The fields of a request -----------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace adbg {

/// Reads the fields of one JSON object strictly. `error` names the first field
/// that is missing, unknown or of the wrong type.
class Fields {
public:
  explicit Fields(const llvm::json::Object &object, std::string where = "")
      : object(object), where(std::move(where)) {}

  std::string error;

  int64_t integer(llvm::StringRef key, int64_t least);
  int64_t integerOr(llvm::StringRef key, int64_t least, int64_t otherwise);
  bool boolean(llvm::StringRef key, bool otherwise);
  std::string text(llvm::StringRef key);
  std::string textOr(llvm::StringRef key, llvm::StringRef otherwise);
  /// Returns a field, or null without an error if it is absent or null.
  const llvm::json::Value *optional(llvm::StringRef key);
  const llvm::json::Object *optionalObject(llvm::StringRef key);
  const llvm::json::Array *array(llvm::StringRef key);
  std::vector<std::string> texts(llvm::StringRef key);
  /// Returns a list of integers, empty without an error if the field is absent
  /// or null.
  std::vector<int64_t> integers(llvm::StringRef key);
  /// Calls `parse` with the fields of each object in a list, up to the first
  /// error, which is copied to `error`.
  void eachObject(llvm::StringRef key,
                  llvm::function_ref<void(Fields &)> parse);
  /// Parses the object in a field with `T::parse`; nothing if it is absent.
  template <class T> std::optional<T> inner(llvm::StringRef key) {
    const llvm::json::Object *value = optionalObject(key);
    if (!value)
      return std::nullopt;
    Fields fields(*value, nameOf(key) + ".");
    std::optional<T> parsed = T::parse(fields);
    if (!parsed)
      fail(fields.error);
    return parsed;
  }

  /// Returns whether there was no error and every field was read.
  bool done();
  void fail(std::string message);
  std::string nameOf(llvm::StringRef key) const { return where + key.str(); }

private:
  const llvm::json::Value *get(llvm::StringRef key);
  void wrong(llvm::StringRef key, llvm::StringRef expected);

  const llvm::json::Object &object;
  std::string where;
  std::set<std::string> read;
};

} // namespace adbg
