//===- ErrorOr.h - A value or an error of the system ------------*- C++ -*-===//

#pragma once

#include <optional>
#include <system_error>
#include <utility>

namespace llvm {

template <typename T> class ErrorOr {
  std::optional<T> value;
  std::error_code error;

public:
  ErrorOr(std::error_code error) : error(error) {}
  ErrorOr(T value) : value(std::move(value)) {}

  explicit operator bool() const { return value.has_value(); }
  std::error_code getError() const { return error; }
  T &get() { return *value; }
  T &operator*() { return *value; }
  T *operator->() { return &*value; }
};

} // namespace llvm
