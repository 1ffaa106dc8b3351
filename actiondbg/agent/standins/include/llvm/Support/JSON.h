//===- JSON.h - JSON values -------------------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm::json {

class Value;
class Array;
struct Field;

/// Whether a text is valid UTF-8; else where the first invalid sequence begins.
bool isUTF8(StringRef text, size_t *errorOffset = nullptr);
/// Replaces invalid sequences by U+FFFD.
std::string fixUTF8(StringRef text);

/// The key of a field.
class ObjectKey {
  std::string text;

public:
  ObjectKey(const char *text) : ObjectKey(std::string(text)) {}
  ObjectKey(StringRef text) : ObjectKey(text.str()) {}
  ObjectKey(std::string key) : text(std::move(key)) {
    if (LLVM_UNLIKELY(!isUTF8(text)))
      text = fixUTF8(text);
  }
  template <unsigned inner>
  ObjectKey(const SmallString<inner> &text) : ObjectKey(text.str().str()) {}

  std::string str() const { return text; }
  operator StringRef() const { return text; }
};

struct KeyOrder {
  using is_transparent = void;
  bool operator()(StringRef a, StringRef b) const { return a < b; }
};

/// Its fields are in the order in which they are printed: by their keys.
class Object {
  using Fields = std::map<ObjectKey, Value, KeyOrder>;
  Fields fields;

public:
  using iterator = Fields::iterator;
  using const_iterator = Fields::const_iterator;

  Object();
  explicit Object(std::initializer_list<Field> all);
  Object(const Object &);
  Object(Object &&) noexcept;
  Object &operator=(const Object &);
  Object &operator=(Object &&) noexcept;
  ~Object();

  iterator begin() { return fields.begin(); }
  iterator end() { return fields.end(); }
  const_iterator begin() const { return fields.begin(); }
  const_iterator end() const { return fields.end(); }
  bool empty() const { return fields.empty(); }
  size_t size() const { return fields.size(); }
  void clear();
  iterator find(StringRef key);
  const_iterator find(StringRef key) const;
  Value &operator[](ObjectKey key);
  std::pair<iterator, bool> insert(Field field);
  std::pair<iterator, bool> try_emplace(ObjectKey key, Value &&value);
  bool erase(StringRef key);

  Value *get(StringRef key);
  const Value *get(StringRef key) const;
  std::optional<bool> getBoolean(StringRef key) const;
  std::optional<double> getNumber(StringRef key) const;
  std::optional<int64_t> getInteger(StringRef key) const;
  std::optional<StringRef> getString(StringRef key) const;
  const Object *getObject(StringRef key) const;
  Object *getObject(StringRef key);
  const Array *getArray(StringRef key) const;
  Array *getArray(StringRef key);
};

class Array {
  std::vector<Value> values;

public:
  using value_type = Value;
  using iterator = std::vector<Value>::iterator;
  using const_iterator = std::vector<Value>::const_iterator;

  Array();
  explicit Array(std::initializer_list<Value> all);
  template <typename Range> explicit Array(const Range &range);
  Array(const Array &);
  Array(Array &&) noexcept;
  Array &operator=(const Array &);
  Array &operator=(Array &&) noexcept;
  ~Array();

  iterator begin() { return values.begin(); }
  iterator end() { return values.end(); }
  const_iterator begin() const { return values.begin(); }
  const_iterator end() const { return values.end(); }
  bool empty() const { return values.empty(); }
  size_t size() const;
  Value &operator[](size_t index);
  const Value &operator[](size_t index) const;
  Value &front();
  const Value &front() const;
  Value &back();
  const Value &back() const;
  void reserve(size_t size);
  void clear();
  void push_back(const Value &value);
  void push_back(Value &&value);
  template <typename... Args> void emplace_back(Args &&...args);
  void pop_back();
  iterator insert(const_iterator at, Value value);
  iterator erase(const_iterator at);
};

/// A value. Text is copied, and made valid UTF-8.
class Value {
  enum class Holds : uint8_t {
    Null,
    Boolean,
    Double,
    Integer,
    Unsigned,
    Text,
    Array,
    Object
  };
  // In an initializer list a value is const, and moved all the same. A
  // std::variant would be shorter, but each use of it is code in the agent.
  mutable Holds holds;
  union {
    bool boolean;
    double real;
    int64_t integer;
    uint64_t natural;
    mutable std::string text;
    mutable json::Array array;
    mutable json::Object object;
  };
  friend json::Array;
  void take(const Value &other);
  void destroy();

public:
  enum Kind { Null, Boolean, Number, String, Array, Object };

  Value(std::nullptr_t) : holds(Holds::Null) {}
  Value(json::Array all) : holds(Holds::Array), array(std::move(all)) {}
  Value(json::Object fields)
      : holds(Holds::Object), object(std::move(fields)) {}
  Value(std::initializer_list<Value> all) : Value(json::Array(all)) {}
  template <typename T> Value(const std::vector<T> &all);
  template <typename T>
  Value(const std::optional<T> &value)
      : Value(value ? Value(*value) : Value(nullptr)) {}
  /// Any type with a function `toJSON` beside it.
  template <typename T,
            typename = std::enable_if_t<std::is_same_v<
                decltype(toJSON(std::declval<const T &>())), Value>>>
  Value(const T &value) : Value(toJSON(value)) {}
  Value(std::string text);
  Value(StringRef text) : Value(text.str()) {}
  Value(const char *text) : Value(std::string(text)) {}
  Value(const SmallVectorImpl<char> &text)
      : Value(std::string(text.begin(), text.end())) {}
  /// Any integer; a template, so that no pointer becomes a boolean.
  template <typename T, std::enable_if_t<std::is_integral_v<T> ||
                                         std::is_enum_v<T>> * = nullptr>
  Value(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      holds = Holds::Boolean;
      boolean = value;
    } else if constexpr (std::is_unsigned_v<T> &&
                         sizeof(T) == sizeof(uint64_t)) {
      holds = Holds::Unsigned;
      natural = value;
    } else {
      holds = Holds::Integer;
      integer = static_cast<int64_t>(value);
    }
  }
  template <typename T,
            std::enable_if_t<std::is_floating_point_v<T>, double> * = nullptr>
  Value(T value) : holds(Holds::Double), real(value) {}

  Value(const Value &other);
  Value(Value &&other) noexcept { take(other); }
  Value &operator=(const Value &other) { return *this = Value(other); }
  Value &operator=(Value &&other) noexcept {
    if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  ~Value() { destroy(); }

  Kind kind() const;
  std::optional<std::nullptr_t> getAsNull() const;
  std::optional<bool> getAsBoolean() const;
  std::optional<double> getAsNumber() const;
  /// Also of a number that is an integer, such as 1e3.
  std::optional<int64_t> getAsInteger() const;
  std::optional<uint64_t> getAsUINT64() const;
  std::optional<StringRef> getAsString() const;
  const json::Array *getAsArray() const {
    return holds == Holds::Array ? &array : nullptr;
  }
  json::Array *getAsArray() { return holds == Holds::Array ? &array : nullptr; }
  const json::Object *getAsObject() const {
    return holds == Holds::Object ? &object : nullptr;
  }
  json::Object *getAsObject() {
    return holds == Holds::Object ? &object : nullptr;
  }

  void print(raw_ostream &os) const;
  friend raw_ostream &operator<<(raw_ostream &os, const Value &value) {
    value.print(os);
    return os;
  }
  friend bool operator==(const Value &a, const Value &b);
  friend bool operator!=(const Value &a, const Value &b) { return !(a == b); }
};

struct Field {
  ObjectKey key;
  // Moved out of an initializer list.
  mutable Value value;
};

template <typename Range> Array::Array(const Range &range) {
  for (const auto &one : range)
    values.push_back(Value(one));
}
template <typename... Args> void Array::emplace_back(Args &&...args) {
  values.push_back(Value(std::forward<Args>(args)...));
}
template <typename T>
Value::Value(const std::vector<T> &all) : Value(json::Array(all)) {}

/// Parses a document. The error names line, column and byte.
Expected<Value> parse(StringRef text);

} // namespace llvm::json
