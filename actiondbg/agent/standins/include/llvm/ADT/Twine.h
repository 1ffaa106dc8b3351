//===- Twine.h - Text put together later ------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"

namespace llvm {

/// A concatenation whose text is built once, when it is asked for. Refers to
/// its parts: it lives no longer than the expression that makes it.
class Twine {
  StringRef text;
  const Twine *left = nullptr, *right = nullptr;
  // Of a number, which the text does not outlive.
  char digits[24];
  uint8_t digitCount = 0;

  void write(unsigned long long number, bool isNegative, unsigned radix = 10) {
    do {
      char digit = "0123456789abcdef"[number % radix];
      digits[sizeof(digits) - ++digitCount] = digit;
    } while (number /= radix);
    if (isNegative)
      digits[sizeof(digits) - ++digitCount] = '-';
  }
  void write(long long number) {
    write(number < 0 ? 0ULL - number : number, number < 0);
  }
  StringRef leaf() const {
    return digitCount
               ? StringRef(digits + sizeof(digits) - digitCount, digitCount)
               : text;
  }

public:
  Twine() {}
  Twine(const Twine &) = default;
  Twine(const char *text) : text(text) {}
  Twine(std::nullptr_t) = delete;
  Twine(const std::string &text) : text(text) {}
  Twine(StringRef text) : text(text) {}
  Twine(const Twine &left, const Twine &right) : left(&left), right(&right) {}
  explicit Twine(int number) { write(static_cast<long long>(number)); }
  explicit Twine(long number) { write(static_cast<long long>(number)); }
  explicit Twine(long long number) { write(number); }
  explicit Twine(unsigned number) { write(number, false); }
  explicit Twine(unsigned long number) { write(number, false); }
  explicit Twine(unsigned long long number) { write(number, false); }
  Twine &operator=(const Twine &) = delete;

  static Twine utohexstr(uint64_t value) {
    Twine twine;
    twine.write(value, false, 16);
    return twine;
  }

  void appendTo(std::string &out) const {
    if (left) {
      left->appendTo(out);
      right->appendTo(out);
      return;
    }
    StringRef own = leaf();
    out.append(own.data(), own.size());
  }
  std::string str() const {
    std::string result;
    appendTo(result);
    return result;
  }
  bool isSingleStringRef() const { return !left; }
  StringRef getSingleStringRef() const { return leaf(); }
};

inline Twine operator+(const Twine &left, const Twine &right) {
  return Twine(left, right);
}

} // namespace llvm
