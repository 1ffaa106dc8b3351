//===- JSON.h - JSON values -------------------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace llvm::json {

class Value;
struct Field;

/// Whether a text is valid UTF-8; else where the first invalid sequence begins.
bool isUTF8(StringRef text, size_t *errorOffset = nullptr);
/// Replaces invalid sequences by U+FFFD.
std::string fixUTF8(StringRef text);

class Array : public std::vector<Value> {
public:
  Array() = default;
  explicit Array(std::initializer_list<Value> all);
  /// What `describe` returns for each element of a range; else the element.
  template <typename Range, typename Describe = std::identity>
  explicit Array(const Range &range, Describe describe = {});
};

/// Its fields are in the order in which they are printed: by their keys.
class Object : public std::map<std::string, Value, std::less<>> {
public:
  Object() = default;
  explicit Object(std::initializer_list<Field> all);

  /// The value of a field, which is added if it is missing.
  Value &operator[](StringRef key);
  /// Null if the field is missing.
  const Value *get(StringRef key) const;
  Value *get(StringRef key);
  std::optional<int64_t> getInteger(StringRef key) const;
  std::optional<StringRef> getString(StringRef key) const;
  const Array *getArray(StringRef key) const;
  Object *getObject(StringRef key);
};

/// A value. Text is copied, and made valid UTF-8.
class Value {
  // In an initializer list a value is const, and moved all the same.
  mutable std::variant<std::nullptr_t, bool, int64_t, uint64_t, double,
                       std::string, Array, Object>
      content;
  friend Array;

  template <typename T> std::optional<T> getIf() const {
    const T *held = std::get_if<T>(&content);
    return held ? std::optional(*held) : std::nullopt;
  }

public:
  Value(std::nullptr_t) {}
  Value(Array all) : content(std::move(all)) {}
  Value(Object fields) : content(std::move(fields)) {}
  template <typename T>
  Value(const std::vector<T> &all) : content(Array(all)) {}
  template <typename T> Value(const std::optional<T> &value) {
    if (value)
      *this = Value(*value);
  }
  /// Any type with a function `toJSON` beside it.
  template <typename T>
    requires std::is_same_v<decltype(toJSON(std::declval<const T &>())), Value>
  Value(const T &value) : Value(toJSON(value)) {}
  Value(std::string text);
  Value(StringRef text) : Value(text.str()) {}
  Value(const char *text) : Value(std::string(text)) {}
  /// Any number; a template, so that no pointer becomes a boolean.
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  Value(T value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint64_t>)
      content = value;
    else if constexpr (std::is_floating_point_v<T>)
      content = static_cast<double>(value);
    else
      content = static_cast<int64_t>(value);
  }

  bool isNull() const { return content.index() == 0; }
  std::optional<bool> getAsBoolean() const { return getIf<bool>(); }
  /// Also of a number that is an integer, such as 1e3.
  std::optional<int64_t> getAsInteger() const;
  std::optional<StringRef> getAsString() const {
    auto *text = std::get_if<std::string>(&content);
    return text ? std::optional<StringRef>(*text) : std::nullopt;
  }
  const Array *getAsArray() const { return std::get_if<Array>(&content); }
  Array *getAsArray() { return std::get_if<Array>(&content); }
  const Object *getAsObject() const { return std::get_if<Object>(&content); }
  Object *getAsObject() { return std::get_if<Object>(&content); }

  friend raw_ostream &operator<<(raw_ostream &os, const Value &value);
};

struct Field {
  std::string key;
  // Moved out of an initializer list.
  mutable Value value;
};

template <typename Range, typename Describe>
Array::Array(const Range &range, Describe describe) {
  for (const auto &one : range)
    emplace_back(describe(one));
}

/// Parses a document. The error names line, column and byte.
std::optional<Value> parse(StringRef text, std::string *error = nullptr);

} // namespace llvm::json
