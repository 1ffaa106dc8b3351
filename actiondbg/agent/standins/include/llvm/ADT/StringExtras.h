//===- StringExtras.h - Characters, escapes and lists -----------*- C++ -*-===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <tuple>

namespace llvm {

class raw_ostream;

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool isAlpha(char c) { return isLower(c) || isUpper(c); }
inline bool isAlnum(char c) { return isAlpha(c) || isDigit(c); }
inline bool isPrint(char c) { return c >= 0x20 && c <= 0x7e; }
inline char toLower(char c) { return isUpper(c) ? c + ('a' - 'A') : c; }
inline unsigned hexDigitValue(char c) {
  c = toLower(c);
  return isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : ~0u;
}
inline bool isHexDigit(char c) { return hexDigitValue(c) != ~0u; }
inline char hexdigit(unsigned value, bool isLowerCase = false) {
  return (isLowerCase ? "0123456789abcdef" : "0123456789ABCDEF")[value & 15];
}

std::string utohexstr(uint64_t value, bool isLowerCase = false,
                      unsigned width = 0);
std::string toHex(ArrayRef<uint8_t> bytes, bool isLowerCase = false);
inline std::string toHex(StringRef bytes, bool isLowerCase = false) {
  return toHex(ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.size()),
               isLowerCase);
}
template <typename T>
bool to_integer(StringRef text, T &value, unsigned radix) {
  return !text.getAsInteger(radix, value);
}
template <typename T> bool to_integer(StringRef text, T &value) {
  return to_integer(text, value, 0);
}

/// Writes what is not printable, quotes and backslashes as `\` and two digits;
/// a backslash as two.
void printEscapedString(StringRef text, raw_ostream &os);

/// The parts of a text between separators. A text without an address ends it.
template <typename Separator> class SplittingIterator {
  StringRef current, rest;
  Separator separator;

public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = StringRef;
  using difference_type = ptrdiff_t;
  using pointer = const StringRef *;
  using reference = const StringRef &;

  SplittingIterator(StringRef text, Separator separator)
      : rest(text), separator(separator) {
    ++*this;
  }
  const StringRef &operator*() const { return current; }
  SplittingIterator &operator++() {
    std::tie(current, rest) = rest.split(separator);
    return *this;
  }
  bool operator==(const SplittingIterator &other) const {
    return current.data() == other.current.data();
  }
  bool operator!=(const SplittingIterator &other) const {
    return !(*this == other);
  }
};
template <typename Separator>
using Split = iterator_range<SplittingIterator<Separator>>;
inline Split<StringRef> split(StringRef text, StringRef separator) {
  return {{text, separator}, {StringRef(), separator}};
}
inline Split<char> split(StringRef text, char separator) {
  return {{text, separator}, {StringRef(), separator}};
}

template <typename Iterator>
std::string join(Iterator from, Iterator to, StringRef separator) {
  std::string result;
  for (Iterator at = from; at != to; ++at) {
    if (at != from)
      result += separator;
    result += StringRef(*at);
  }
  return result;
}
template <typename Range> std::string join(Range &&range, StringRef separator) {
  return join(std::begin(range), std::end(range), separator);
}

} // namespace llvm
