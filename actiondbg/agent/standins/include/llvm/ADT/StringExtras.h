//===- StringExtras.h - Characters, escapes and lists -----------*- C++ -*-===//

#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {

class raw_ostream;

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool isAlpha(char c) { return isLower(c) || isUpper(c); }
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

std::string utohexstr(uint64_t value, bool isLowerCase = false);
std::string toHex(ArrayRef<uint8_t> bytes, bool isLowerCase = false);
/// Writes what is not printable, quotes and backslashes as `\` and two digits;
/// a backslash as two.
void printEscapedString(StringRef text, raw_ostream &os);

template <typename Range> std::string join(Range &&range, StringRef separator) {
  std::string result;
  StringRef before;
  for (const auto &one : range) {
    result += before;
    result += StringRef(one);
    before = separator;
  }
  return result;
}

} // namespace llvm
