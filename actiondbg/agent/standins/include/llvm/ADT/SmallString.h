//===- SmallString.h - Text with room inside --------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {

template <unsigned inner> class SmallString : public SmallVector<char, inner> {
public:
  SmallString() = default;
  SmallString(StringRef text)
      : SmallVector<char, inner>(text.begin(), text.end()) {}

  using SmallVector<char, inner>::append;
  void append(StringRef text) { append(text.begin(), text.end()); }
  using SmallVector<char, inner>::assign;
  void assign(StringRef text) { assign(text.begin(), text.end()); }

  StringRef str() const { return {this->data(), this->size()}; }
  operator StringRef() const { return str(); }
  explicit operator std::string() const { return str().str(); }
  const char *c_str() {
    this->push_back(0);
    this->pop_back();
    return this->data();
  }
  SmallString &operator=(StringRef text) {
    assign(text);
    return *this;
  }
  SmallString &operator+=(StringRef text) {
    append(text);
    return *this;
  }
  SmallString &operator+=(char c) {
    this->push_back(c);
    return *this;
  }
  bool operator==(StringRef text) const { return str() == text; }
  bool operator!=(StringRef text) const { return str() != text; }
};

} // namespace llvm
