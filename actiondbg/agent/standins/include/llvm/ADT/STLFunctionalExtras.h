//===- STLFunctionalExtras.h - References to callables ----------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace llvm {

template <typename Signature> class function_ref;

/// A reference to a callable. Crosses into the tool: a function that takes the
/// address of the callable first, and that address.
template <typename Result, typename... Args>
class function_ref<Result(Args...)> {
  Result (*callback)(intptr_t callable, Args... args) = nullptr;
  intptr_t callable;

  template <typename Callable>
  static Result call(intptr_t callable, Args... args) {
    return (*reinterpret_cast<Callable *>(callable))(
        std::forward<Args>(args)...);
  }

public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}
  template <typename Callable,
            std::enable_if_t<
                !std::is_same_v<std::decay_t<Callable>, function_ref> &&
                std::is_invocable_r_v<Result, Callable &, Args...>> * = nullptr>
  function_ref(Callable &&callable)
      : callback(call<std::remove_reference_t<Callable>>),
        callable(reinterpret_cast<intptr_t>(&callable)) {}

  Result operator()(Args... args) const {
    return callback(callable, std::forward<Args>(args)...);
  }
  explicit operator bool() const { return callback; }
  bool operator==(const function_ref &other) const {
    return callable == other.callable;
  }
};

} // namespace llvm
