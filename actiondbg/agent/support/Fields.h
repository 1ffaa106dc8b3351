//===- Fields.h - The fields of a request -----------------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"
#include "llvm/Support/JSON.h"

namespace adbg {

/// Reads the fields of one JSON object strictly. `error` names the first field
/// that is missing, unknown or of the wrong type.
class Fields {
public:
  explicit Fields(const Object &object, std::string where = "")
      : object(object), where(std::move(where)) {}

  std::string error;

  int64_t integer(StringRef key, int64_t least);
  int64_t integerOr(StringRef key, int64_t least, int64_t otherwise);
  bool boolean(StringRef key, bool otherwise);
  std::string text(StringRef key);
  std::string textOr(StringRef key, StringRef otherwise);
  /// Returns a field, or null without an error if it is absent or null.
  const Json *optional(StringRef key);
  /// Returns some fields as text, by which two objects can be compared.
  std::string json(std::initializer_list<StringRef> keys);
  const Object *optionalObject(StringRef key);
  const Array *array(StringRef key);
  std::vector<std::string> texts(StringRef key);
  /// Returns a list of integers, empty without an error if the field is absent
  /// or null.
  std::vector<int64_t> integers(StringRef key);
  /// Returns the value of the name in a field. `what` is what the names are of,
  /// for the error: the first choice is returned then.
  template <typename T>
  T choice(StringRef key, const char *what,
           std::initializer_list<std::pair<const char *, T>> choices) {
    std::string name = text(key);
    for (const auto &[known, value] : choices)
      if (name == known)
        return value;
    fail("there is no " + std::string(what) + " '" + name + "'");
    return choices.begin()->second;
  }
  /// Parses each object in a list with `T::parse`. After an error the result is
  /// not to be used.
  template <typename T> std::vector<T> objects(StringRef key) {
    std::vector<T> all;
    eachObject(key, [&](Fields &fields) {
      all.push_back(T::parse(fields));
      fields.done();
    });
    return all;
  }
  /// Calls `parse` with the fields of each object in a list, up to the first
  /// error, which is copied to `error`.
  void eachObject(StringRef key, function_ref<void(Fields &)> parse);
  /// Parses the object in a field with `T::parse`; nothing if it is absent.
  template <class T> std::optional<T> inner(StringRef key) {
    const Object *value = optionalObject(key);
    if (!value)
      return std::nullopt;
    Fields fields(*value, nameOf(key) + ".");
    std::optional<T> parsed = T::parse(fields);
    if (!fields.done())
      fail(fields.error);
    return parsed;
  }

  /// Returns whether there was no error and every field was read.
  bool done();
  void fail(std::string message);
  std::string nameOf(StringRef key) const { return where + key.str(); }

private:
  const Json *get(StringRef key);
  void wrong(StringRef key, StringRef expected);
  template <typename T, typename Get>
  std::vector<T> list(StringRef key, StringRef expected, Get get);

  const Object &object;
  std::string where;
  std::set<std::string> read;
};

} // namespace adbg
