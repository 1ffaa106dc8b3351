//===- StringSwitch.h - Choices by text -------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace llvm {

template <typename T> class StringSwitch {
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
  T Default(T value) { return result ? std::move(*result) : std::move(value); }
};

} // namespace llvm
