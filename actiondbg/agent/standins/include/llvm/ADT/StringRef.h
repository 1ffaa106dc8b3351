//===- StringRef.h - References to text -------------------------*- C++ -*-===//

#pragma once

#include "llvm/Support/Compiler.h"

namespace llvm {

/// Crosses into the tool: an address and a length.
class StringRef {
  const char *start = nullptr;
  size_t length = 0;

public:
  static constexpr size_t npos = ~size_t(0);
  using iterator = const char *;
  using const_iterator = const char *;
  using size_type = size_t;
  using value_type = char;

  constexpr StringRef() = default;
  StringRef(std::nullptr_t) = delete;
  constexpr StringRef(const char *text)
      : start(text), length(text ? std::char_traits<char>::length(text) : 0) {}
  constexpr StringRef(const char *text, size_t size)
      : start(text), length(size) {}
  StringRef(const std::string &text)
      : start(text.data()), length(text.size()) {}
  constexpr StringRef(std::string_view text)
      : start(text.data()), length(text.size()) {}

  constexpr const char *data() const { return start; }
  constexpr size_t size() const { return length; }
  constexpr bool empty() const { return length == 0; }
  constexpr iterator begin() const { return start; }
  constexpr iterator end() const { return start + length; }
  const unsigned char *bytes_begin() const {
    return reinterpret_cast<const unsigned char *>(begin());
  }
  char front() const { return start[0]; }
  char operator[](size_t index) const { return start[index]; }

  std::string str() const { return std::string(start, length); }
  constexpr operator std::string_view() const { return {start, length}; }
  explicit operator std::string() const { return str(); }
  template <typename T>
  std::enable_if_t<std::is_same_v<T, std::string>, StringRef> &
  operator=(T &&) = delete;

  bool equals(StringRef other) const {
    return length == other.length &&
           (!length || std::memcmp(start, other.start, length) == 0);
  }
  int compare(StringRef other) const {
    return view().compare(other.view()) < 0 ? -1 : !equals(other);
  }
  bool starts_with(StringRef prefix) const {
    return length >= prefix.length && take_front(prefix.length).equals(prefix);
  }
  bool starts_with(char prefix) const { return length && front() == prefix; }
  bool ends_with(StringRef suffix) const {
    return length >= suffix.length && take_back(suffix.length).equals(suffix);
  }
  bool consume_front(StringRef prefix) {
    if (!starts_with(prefix))
      return false;
    *this = drop_front(prefix.length);
    return true;
  }
  bool consume_front(char prefix) { return consume_front({&prefix, 1}); }
  bool consume_back(StringRef suffix) {
    if (!ends_with(suffix))
      return false;
    *this = drop_back(suffix.length);
    return true;
  }

  size_t find(char c, size_t from = 0) const { return view().find(c, from); }
  size_t find(StringRef text, size_t from = 0) const {
    return view().find(text.view(), from);
  }
  size_t rfind(char c, size_t from = npos) const {
    // Counts from the end: the character at `from` is not looked at.
    return from ? view().rfind(c, from - (from != npos)) : npos;
  }
  size_t find_first_not_of(StringRef chars, size_t from = 0) const {
    return view().find_first_not_of(chars.view(), from);
  }
  size_t find_last_not_of(StringRef chars) const {
    return view().find_last_not_of(chars.view());
  }
  template <typename Test> size_t find_if(Test test, size_t from = 0) const {
    for (size_t i = from; i < length; ++i)
      if (test(start[i]))
        return i;
    return npos;
  }
  template <typename Test>
  size_t find_if_not(Test test, size_t from = 0) const {
    return find_if([&](char c) { return !test(c); }, from);
  }
  bool contains(StringRef text) const { return find(text) != npos; }
  bool contains(char c) const { return find(c) != npos; }
  size_t count(char c) const { return std::count(begin(), end(), c); }

  constexpr StringRef substr(size_t from, size_t size = npos) const {
    from = from < length ? from : length;
    return {start + from, size < length - from ? size : length - from};
  }
  constexpr StringRef slice(size_t from, size_t to) const {
    from = from < length ? from : length;
    to = to < from ? from : to < length ? to : length;
    return {start + from, to - from};
  }
  constexpr StringRef take_front(size_t size = 1) const {
    return substr(0, size);
  }
  constexpr StringRef take_back(size_t size = 1) const {
    return size >= length ? *this : drop_front(length - size);
  }
  constexpr StringRef drop_front(size_t size = 1) const { return substr(size); }
  constexpr StringRef drop_back(size_t size = 1) const {
    return substr(0, length - size);
  }
  template <typename Test> StringRef take_while(Test test) const {
    return substr(0, find_if_not(test));
  }
  template <typename Test> StringRef take_until(Test test) const {
    return substr(0, find_if(test));
  }

  std::pair<StringRef, StringRef> split(StringRef separator) const {
    return around(find(separator), separator.size());
  }
  std::pair<StringRef, StringRef> split(char separator) const {
    return around(find(separator), 1);
  }
  std::pair<StringRef, StringRef> rsplit(char separator) const {
    return around(rfind(separator), 1);
  }
  /// Adds all parts, the empty ones included.
  void split(std::vector<StringRef> &parts, char separator) const {
    StringRef rest = *this;
    for (size_t at; (at = rest.find(separator)) != npos;
         rest = rest.drop_front(at + 1))
      parts.push_back(rest.take_front(at));
    parts.push_back(rest);
  }

  StringRef ltrim(StringRef chars = " \t\n\v\f\r") const {
    return drop_front(std::min(length, find_first_not_of(chars)));
  }
  StringRef rtrim(StringRef chars = " \t\n\v\f\r") const {
    return take_front(find_last_not_of(chars) + 1);
  }
  StringRef trim(StringRef chars = " \t\n\v\f\r") const {
    return ltrim(chars).rtrim(chars);
  }
  StringRef ltrim(char c) const { return ltrim(StringRef(&c, 1)); }
  StringRef rtrim(char c) const { return rtrim(StringRef(&c, 1)); }

  /// Parses all of the text; returns true on failure.
  template <typename T> bool getAsInteger(unsigned radix, T &result) const {
    StringRef rest = *this;
    return rest.consumeInteger(radix, result) || !rest.empty();
  }
  /// Parses the digits at the beginning; returns true on failure.
  template <typename T> bool consumeInteger(unsigned radix, T &result) {
    auto [rest, error] = std::from_chars(begin(), end(), result, radix);
    if (error != std::errc())
      return true;
    *this = drop_front(rest - begin());
    return false;
  }

private:
  constexpr std::string_view view() const { return {start, length}; }
  std::pair<StringRef, StringRef> around(size_t at, size_t size) const {
    if (at == npos)
      return {*this, StringRef()};
    return {substr(0, at), substr(at + size)};
  }
};

inline bool operator==(StringRef a, StringRef b) { return a.equals(b); }
inline bool operator<(StringRef a, StringRef b) { return a.compare(b) < 0; }
inline std::string operator+(StringRef left, StringRef right) {
  std::string text;
  text.reserve(left.size() + right.size());
  return text.append(left).append(right);
}
inline std::string &operator+=(std::string &text, StringRef more) {
  return text.append(more.data(), more.size());
}

} // namespace llvm
