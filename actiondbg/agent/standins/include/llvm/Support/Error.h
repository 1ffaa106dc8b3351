//===- Error.h - Errors with a message --------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/Twine.h"
#include <memory>
#include <string>
#include <system_error>
#include <variant>

namespace llvm {

/// Success, or a message that says what is wrong.
class [[nodiscard]] Error {
  std::unique_ptr<std::string> message;

public:
  Error() = default;
  explicit Error(std::string message)
      : message(std::make_unique<std::string>(std::move(message))) {}
  static Error success() { return Error(); }
  explicit operator bool() const { return message != nullptr; }

  /// The message, and nothing for success.
  std::string text() const { return message ? *message : ""; }
};

inline std::string toString(Error error) { return error.text(); }
inline Error createStringError(const Twine &message) {
  return Error(message.str());
}
inline void consumeError(Error) {}

/// A value, or why there is none.
template <typename T> class [[nodiscard]] Expected {
  std::variant<T, Error> content;

public:
  Expected(Error error) : content(std::move(error)) {}
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U, T>>>
  Expected(U &&value)
      : content(std::in_place_index<0>, std::forward<U>(value)) {}

  explicit operator bool() const { return content.index() == 0; }
  T &get() { return *std::get_if<0>(&content); }
  const T &get() const { return *std::get_if<0>(&content); }
  T &operator*() { return get(); }
  const T &operator*() const { return get(); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &get(); }
  Error takeError() {
    return *this ? Error() : std::move(*std::get_if<1>(&content));
  }
};

} // namespace llvm
