//===- StringSwitch.h - Choices by text -------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace llvm {

template <typename T, typename R = T> class StringSwitch {
  StringRef text;
  std::optional<T> result;

  StringSwitch &choose(bool matches, T &value) {
    if (!result && matches)
      result = std::move(value);
    return *this;
  }

public:
  explicit StringSwitch(StringRef text) : text(text) {}

  StringSwitch &Case(StringRef name, T value) {
    return choose(text == name, value);
  }
  StringSwitch &Cases(std::initializer_list<StringRef> names, T value) {
    return choose(std::find(names.begin(), names.end(), text) != names.end(),
                  value);
  }
  StringSwitch &Cases(StringRef a, StringRef b, T value) {
    return Cases({a, b}, std::move(value));
  }
  StringSwitch &Cases(StringRef a, StringRef b, StringRef c, T value) {
    return Cases({a, b, c}, std::move(value));
  }
  R Default(T value) { return result ? std::move(*result) : std::move(value); }
  operator R() { return std::move(*result); }
};

} // namespace llvm
